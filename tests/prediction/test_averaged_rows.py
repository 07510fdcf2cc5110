"""Rows that are averages over 64 others: they count by what they cost, in every protocol, and are bounded."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from app.accounts.rate_limiter import OwnerRates
from app.identity import BUILT_IN_OWNER as OWNER
from app.main import make_application
from app.prediction import PredictRequest, ServedVersion, predict, runner
from app.prediction.runner import max_averaged
from relevance_bayes.records.accounts import OwnerLimits
from relevance_bayes.tasks.prediction import ROWS_OF_AVERAGE, RowPredictions, cost_in_rows
from tests.applications import LIMITS, SmallParts
from tests.formats.samples.json import FlatRow
from tests.problems import assert_problem
from tests.small_models import small_version
from tests.table_files import MEDIA_TYPES, NAMED_ROWS, written

PATH = "/v1/models/small/versions/1/predict"
KNOWN: FlatRow = {"x": 0.5, "colour": "red"}
GAP: FlatRow = {"x": 1.0, "colour": None}
UNKNOWN: FlatRow = {"x": 2.0, "colour": "green"}
MAX_AVERAGED = 3
"""The most rows of a request here that are averages, of ten rows at most."""


class SameRates:
    """The same rates for every owner."""

    def __init__(self, rates: OwnerRates) -> None:
        self._rates = rates

    def of(self, owner: str) -> OwnerRates:
        return self._rates


@pytest.fixture
def rates() -> OwnerRates:
    return OwnerRates(OwnerLimits(rows_per_second=100_000), 1, lambda: 0.0)


@pytest.fixture
def client(parts: SmallParts, rates: OwnerRates, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr("app.prediction.runner.MIN_MAX_AVERAGED", MAX_AVERAGED)
    parts.stored.put_version(OWNER, small_version(name="other"), number=1)
    limits = replace(LIMITS, max_prediction_rows=10)
    application = make_application(parts, limits, rate_limits=SameRates(rates))
    with TestClient(application, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client


def charged(rates: OwnerRates) -> int:
    """The rows that the owner has been charged."""
    return 100_000 - round(rates.buckets["rows"].tokens)


def test_files_of_a_thousand_rows_with_gaps_are_predicted_whatever_the_limit_of_rows() -> None:
    assert [max_averaged(rows) for rows in (1, 5_000, 100_000)] == [1_000, 1_000, 15_625]
    for rows in (10_000, 100_000, 1_000_000):
        assert cost_in_rows(max_averaged(rows), max_averaged(rows)) <= max(10 * rows, 1_000 * ROWS_OF_AVERAGE)


@pytest.mark.parametrize("other", [GAP, UNKNOWN], ids=["gaps", "unknown categories"])
@pytest.mark.parametrize("coded", NAMED_ROWS)
def test_more_averages_than_the_limit_are_refused_in_every_format(
    client: TestClient, rates: OwnerRates, coded: str, other: FlatRow
) -> None:
    headers = {"Content-Type": MEDIA_TYPES[coded], "Accept": "application/json"}
    found = client.post(PATH, content=written(coded, [KNOWN, *[other] * MAX_AVERAGED]), headers=headers)
    assert found.status_code == 200, found.text
    assert len(found.json()["predictions"]) == 1 + MAX_AVERAGED
    assert charged(rates) == 1 + MAX_AVERAGED * ROWS_OF_AVERAGE
    refused = client.post(PATH, content=written(coded, [KNOWN, *[other] * (MAX_AVERAGED + 1)]), headers=headers)
    detail = (
        "Expected at most 3 rows with missing values or unknown categories, each of which is predicted as 64 rows, "
        "got 4; split the request."
    )
    assert_problem(refused, "too-large", detail)
    assert charged(rates) == 1 + MAX_AVERAGED * ROWS_OF_AVERAGE
    assert client.post(PATH, content=written(coded, [KNOWN] * 9), headers=headers).status_code == 200


def test_averages_of_all_parts_of_a_stream_count_together(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.prediction.line_streaming.ROWS_AT_ONCE", 2)
    headers = {"Content-Type": MEDIA_TYPES["ndjson"], "Accept": MEDIA_TYPES["ndjson"]}
    lines = client.post(PATH, content=written("ndjson", [GAP] * (MAX_AVERAGED + 1)), headers=headers).text.splitlines()
    assert ["error" in json.loads(line) for line in lines] == [False, False, True]
    problem = json.loads(lines[-1])["error"]
    assert (problem["status"], "at most 1 rows with missing values" in problem["detail"]) == (413, True)


def test_tensors_and_comparisons_are_bounded_and_charged_alike(client: TestClient, rates: OwnerRates) -> None:
    def tensors(rows: int) -> dict[str, object]:
        x = {"name": "x", "datatype": "FP64", "shape": [rows], "data": [1.0] * rows}
        colour = {"name": "colour", "datatype": "BYTES", "shape": [rows], "data": ["green"] * rows}
        return {"inputs": [x, colour]}

    assert client.post("/v2/models/small/infer", json=tensors(MAX_AVERAGED)).status_code == 200
    assert charged(rates) == MAX_AVERAGED * ROWS_OF_AVERAGE
    assert client.post("/v2/models/small/infer", json=tensors(MAX_AVERAGED + 1)).status_code == 413
    path, compared = "/v1/models/small/versions/1/compare", {"with": {"model": "other", "version": 1}}
    same = client.post(path, json={**compared, "rows": [KNOWN, *[GAP] * MAX_AVERAGED]})
    assert same.status_code == 200, same.text
    assert charged(rates) == MAX_AVERAGED * ROWS_OF_AVERAGE + 2 * (1 + MAX_AVERAGED * ROWS_OF_AVERAGE)
    assert client.post(path, json={**compared, "rows": [GAP] * (MAX_AVERAGED + 1)}).status_code == 413


def test_a_profile_is_charged_what_its_averages_cost(client: TestClient, rates: OwnerRates) -> None:
    body = {"inputs": ["x"], "points": 5, "rows": [KNOWN, GAP]}
    found = client.post("/v1/models/small/versions/1/profile", json=body)
    assert found.status_code == 200, found.text
    assert charged(rates) == 5 * (1 + ROWS_OF_AVERAGE)


@pytest.mark.parametrize(("rows", "is_inline"), [(2, True), (3, False)])
def test_few_averages_are_predicted_on_the_event_loop_and_more_in_a_thread(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, rows: int, is_inline: bool
) -> None:
    threads: list[str] = []

    def watched(served: ServedVersion, request: PredictRequest) -> RowPredictions:
        found = predict(served, request)
        threads.append(threading.current_thread().name)
        return found

    monkeypatch.setattr(runner, "predict", watched)
    monkeypatch.setattr(runner, "MAX_INLINE_AVERAGED", 2)
    for row in (KNOWN, GAP):
        found = client.post(PATH, json={"rows": [row] * rows})
        assert found.status_code == 200, found.text
    loop, of_gaps = threads
    assert (of_gaps == loop) is is_inline
