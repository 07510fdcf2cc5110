"""Rows with unknown categories in every protocol: predicted with a note, or refused on request."""

import json
from collections.abc import Iterator
from threading import Event
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import Engine
from starlette.testclient import TestClient

from app.evaluation.runner import Scorer
from app.formats.streams import TableStream
from app.identity import BUILT_IN_OWNER
from app.jobs.worker.attempts import Records
from app.main import make_application
from app.prediction import json_codec
from app.registry.repository import ModelRepository
from relevance_bayes.tables.columns import Block
from tests.applications import LIMITS, StoredParts
from tests.problems import assert_problem
from tests.small_models import small_version
from tests.small_tables import numbers, texts
from tests.table_files import table_of

PATH = "/v1/models/small/predict"
ROWS = [{"x": 0.5, "colour": "red"}, {"x": 1, "colour": "green"}, {"x": 3, "colour": "red"}, {"x": 2, "colour": "pink"}]
NOTE = [{"row": 1, "column": "colour", "value": "green"}, {"row": 3, "column": "colour", "value": "pink"}]
CSV = b"x,colour\n0.5,red\n1,green\n3,red\n2,pink\n"
DETAIL = "`colour` is 'green', which did not occur in training; known are 'blue', 'red'."
TENSORS = {
    "inputs": [
        {"name": "x", "datatype": "FP64", "shape": [4], "data": [0.5, 1, 3, 2]},
        {"name": "colour", "datatype": "BYTES", "shape": [4], "data": ["red", "green", "red", "pink"]},
    ]
}


def means(client: TestClient, rows: list[dict[str, object]]) -> list[float]:
    return [one["mean"] for one in client.post(PATH, json={"rows": rows}).json()["predictions"]]


def test_json_has_predictions_for_all_rows_and_lists_the_cells(client: TestClient) -> None:
    response = client.post(PATH, json={"rows": ROWS})
    assert response.status_code == 200
    assert response.json()["unknown_categories"] == NOTE
    each = means(client, [{"x": 1, "colour": "red"}, {"x": 1, "colour": "blue"}])
    found = response.json()["predictions"]
    assert found[1]["mean"] == pytest.approx(np.mean(each))
    assert found[1]["variance"]["residual"] == pytest.approx(np.var(each))
    assert found[0]["mean"] == means(client, ROWS[:1])[0]


def test_there_is_no_note_without_unknown_categories(client: TestClient) -> None:
    assert client.post(PATH, json={"rows": ROWS[:1]}).json().keys() == {"model", "version", "predictions"}


def test_a_long_response_has_the_note_too(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    full = client.post(PATH, json={"rows": ROWS})
    monkeypatch.setattr(json_codec, "ROWS_AT_ONCE", 2)
    pieces = client.post(PATH, json={"rows": ROWS})
    assert pieces.json() == full.json()
    assert pieces.content == full.content


def test_the_error_option_refuses_the_request_or_the_rows(client: TestClient) -> None:
    response = client.post(PATH, json={"rows": ROWS[:2], "unknown_categories": "error"})
    detail = f'Row 2 of the data, column "colour": {DETAIL}'
    assert_problem(response, "invalid-data", detail, [{"row": 1, "column": "colour", "detail": DETAIL}])
    per_row = client.post(PATH, json={"rows": ROWS, "unknown_categories": "error", "on_error": "per_row"}).json()
    assert ["error" in one for one in per_row["predictions"]] == [False, True, False, True]
    assert "unknown_categories" not in per_row


def test_another_option_is_refused_with_its_place(client: TestClient) -> None:
    response = client.post(PATH, json={"rows": ROWS, "unknown_categories": "other"})
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == ["/unknown_categories"]


def test_these_rows_have_a_covariance_and_explanations(client: TestClient) -> None:
    found = client.post(PATH, json={"rows": ROWS, "covariance": True, "explain": 1}).json()
    totals = [one["variance"]["total"] for one in found["predictions"]]
    assert [row[place] for place, row in enumerate(found["covariance"])] == pytest.approx(totals)
    for one in found["predictions"]:
        parts = one["explanation_sum"]
        assert parts["mean"] == pytest.approx(one["mean"])
        added = sum(each["contribution"] for each in one["explanation"])
        assert parts["baseline"] + added + parts["others"] == pytest.approx(one["mean"])


@pytest.mark.parametrize(
    ("media_type", "body"),
    [("text/csv", CSV), ("application/x-ndjson", b"".join(json.dumps(row).encode() + b"\n" for row in ROWS))],
)
def test_formats_without_a_document_have_the_same_predictions(client: TestClient, media_type: str, body: bytes) -> None:
    headers = {"Content-Type": media_type, "Accept": "application/json"}
    response = client.post(PATH, content=body, headers=headers)
    assert response.json() == client.post(PATH, json={"rows": ROWS}).json()
    refused = client.post(PATH, params={"unknown_categories": "error"}, content=body, headers=headers)
    assert refused.status_code == 422
    assert [error["row"] for error in refused.json()["errors"]] == [1, 3]
    flat = client.post(PATH, content=body, headers={**headers, "Accept": "text/csv"})
    assert [float(line.split(",")[0]) for line in flat.text.splitlines()[1:]] == means(client, ROWS)


def test_lines_are_streamed_with_the_option(client: TestClient) -> None:
    headers = {"Content-Type": "application/x-ndjson", "Accept": "application/x-ndjson"}
    body = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
    found = client.post(PATH, content=body, headers=headers).text.splitlines()
    assert [json.loads(line)["mean"] for line in found] == means(client, ROWS)
    options = {"unknown_categories": "error", "on_error": "per_row"}
    lines = client.post(PATH, params=options, content=body, headers=headers).text.splitlines()
    assert ["error" in json.loads(line) for line in lines] == [False, True, False, True]


def test_tensors_have_the_note_as_a_parameter(client: TestClient) -> None:
    response = client.post("/v2/models/small/infer", json=TENSORS).json()
    assert json.loads(response["parameters"]["unknown_categories"]) == NOTE
    found = {one["name"]: one["data"] for one in response["outputs"]}
    assert found["mean"] == means(client, ROWS)
    known = {"inputs": [TENSORS["inputs"][0], {**TENSORS["inputs"][1], "data": ["red", "blue", "red", "blue"]}]}
    assert "parameters" not in client.post("/v2/models/small/infer", json=known).json()


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        ("error", DETAIL),
        ("other", 'The parameter `unknown_categories`: expected "average" or "error", got \'other\'.'),
    ],
)
def test_tensors_are_refused_by_the_parameter(client: TestClient, value: str, detail: str) -> None:
    response = client.post("/v2/models/small/infer", json={**TENSORS, "parameters": {"unknown_categories": value}})
    assert response.status_code == 400
    assert response.json()["errors"][0]["detail"] == detail


@pytest.fixture
def stored(engine: Engine) -> StoredParts:
    """A version of `small`."""
    parts = StoredParts.over(engine)
    with parts.transaction() as tx:
        ModelRepository(tx).add(BUILT_IN_OWNER, small_version())
    return parts


@pytest.fixture
def service(stored: StoredParts) -> Iterator[TestClient]:
    with TestClient(make_application(stored, LIMITS), base_url="http://localhost") as client:
        yield client


def predicted(
    service: TestClient, stored: StoredParts, **options: object
) -> tuple[dict[str, object], list[float | None]]:
    """The result of a batch prediction, and its means."""
    block: Block = {"x": numbers(0.5, 1, 3, 2), "colour": texts("red", "green", "red", "pink")}
    dataset = stored.ingest.receive(
        BUILT_IN_OWNER, "things", TableStream(names=("x", "colour"), kinds=("number", "category"), blocks=iter([block]))
    ).dataset
    requested = {"model": "small", "dataset_id": str(dataset.id), **options}
    path = service.post("/v1/batch-predictions", json=requested).headers["Location"]
    assert Scorer(Records(stored.transaction, Event()), "this program")(UUID(path.rpartition("/")[2]))
    content = service.get(f"{path}/result").content
    return service.get(path).json()["result"], [*table_of("csv", content).column("mean").to_pylist()]


def test_a_batch_prediction_counts_these_rows(service: TestClient, stored: StoredParts) -> None:
    result, found = predicted(service, stored)
    assert (result["rows"], result["rows_not_predicted"], result["rows_averaged"]) == (4, 0, 2)
    assert found == pytest.approx(means(service, ROWS))


def test_a_batch_prediction_refuses_them_on_request(service: TestClient, stored: StoredParts) -> None:
    result, found = predicted(service, stored, unknown_categories="error")
    assert (result["rows"], result["rows_not_predicted"], result["rows_averaged"]) == (4, 2, 0)
    assert [one is None for one in found] == [False, True, False, True]
