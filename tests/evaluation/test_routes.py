"""Evaluations over HTTP: requested, read, listed, ended."""

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from starlette.testclient import TestClient

from app.evaluation.jobs import EVALUATION_RESULT
from app.evaluation.metrics.classes import ClassScores
from app.evaluation.metrics.numbers import NumberScores
from app.identity import BUILT_IN_OWNER
from app.identity import BUILT_IN_OWNER as OWNER
from app.jobs.tables import JobRow
from app.prediction import evaluate_block
from relevance_bayes.records.evaluations import AnyEvaluationResult, NumberMetrics
from relevance_bayes.records.jobs import Transition
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.prediction import LabelledClasses, LabelledNumbers
from tests.applications import DATASET, LIMITS, NOW, SmallParts, filled_template
from tests.narrowing import of_kind
from tests.problems import assert_problem
from tests.served_versions import served
from tests.small_models import small_version
from tests.small_tables import flags, numbers, texts

PATH = "/v1/evaluations"
REQUEST = {"model": "small", "dataset_id": str(DATASET.id)}
INPUTS: Block = {"x": numbers(0.5, 1.0, 3.0, 2.0), "colour": texts("red", "blue", "red", "blue")}


def submitted(client: TestClient, **more: object) -> UUID:
    response = client.post(PATH, json={**REQUEST, **more})
    assert response.status_code == 202, response.text
    return UUID(response.json()["id"])


def concluded(parts: SmallParts, job_id: UUID, result: AnyEvaluationResult) -> None:
    job = parts.stored.job(job_id)
    moves = (*job.transitions, Transition("running", NOW, 1), Transition("succeeded", NOW, 1))
    parts.stored.put_job(
        replace(
            job,
            state="succeeded",
            attempt=1,
            started_at=NOW,
            finished_at=NOW,
            transitions=moves,
            result=EVALUATION_RESULT.write(result),
        )
    )


def of_numbers() -> AnyEvaluationResult:
    (labelled,) = evaluate_block(served(small_version()), {**INPUTS, "y": numbers(11.0, 9.5, 13.0, 8.0)}).labelled
    result = NumberScores.of(of_kind(LabelledNumbers, labelled)).result()
    return replace(result, rows_without_target=2, rows_not_predicted=1)


def test_an_evaluation_is_accepted_for_the_version_that_its_reference_means(
    client: TestClient, parts: SmallParts
) -> None:
    response = client.post(PATH, json=REQUEST)
    job = response.json()
    assert response.status_code == 202
    assert response.headers["Location"] == f"{PATH}/{job['id']}"
    assert parts.stored.queue.submitted == [UUID(job["id"])]
    assert job == {
        "id": job["id"],
        "state": "queued",
        "created_at": job["created_at"],
        "started_at": None,
        "finished_at": None,
        "cancel_requested_at": None,
        "attempt": 0,
        "resumed_from": None,
        "progress": None,
        "expected_cost": None,
        "version": {"model": "small", "version": 1},
        "error": None,
        "transitions": [
            {"state": "queued", "at": job["created_at"], "attempt": 0, "reason": None, "resumed_from": None}
        ],
        "dataset_id": str(DATASET.id),
        "model": "small",
        "priority": 0,
        "retry_of": None,
        "target": "y",
        "task": "regression",
        "result": None,
    }


def test_what_was_found_is_shown_with_its_pictures(client: TestClient, parts: SmallParts) -> None:
    job_id, found = submitted(client), of_numbers()
    concluded(parts, job_id, found)
    result = client.get(f"{PATH}/{job_id}").json()["result"]
    assert (result["rows"], result["rows_without_target"], result["rows_not_predicted"]) == (4, 2, 1)
    assert result["metrics"]["rmse"] == pytest.approx(of_kind(NumberMetrics, found.metrics).rmse)
    assert [one["percent"] for one in result["metrics"]["coverage"]] == [50, 80, 95]
    assert sum(result["diagnostics"]["standardised_residuals"]) == 4
    assert sum(one["rows"] for one in result["diagnostics"]["residuals"]) == 4


def test_classes_have_metrics_of_their_own(client: TestClient, parts: SmallParts) -> None:
    columns = tuple(
        replace(column, name="y") if column.name == "known" else column
        for column in DATASET.columns
        if column.name != "y"
    )
    parts.stored.put_dataset(replace(DATASET, owner=BUILT_IN_OWNER, columns=columns))
    job_id = submitted(client, model="classes")
    version = served(small_version("classification"))
    (labelled,) = evaluate_block(version, {**INPUTS, "y": flags(True, False, True, True)}).labelled
    concluded(parts, job_id, ClassScores.of(of_kind(LabelledClasses, labelled)).result())
    job = client.get(f"{PATH}/{job_id}").json()
    assert (job["task"], job["result"]["rows"], job["result"]["metrics"]["rows_of_unknown_class"]) == (
        "classification",
        4,
        0,
    )
    assert np.sum(job["result"]["diagnostics"]["confusion"]) == 4
    assert job["result"]["diagnostics"]["classes"] == [False, True]


def test_lists_show_metrics_by_version_and_dataset_without_pictures(client: TestClient, parts: SmallParts) -> None:
    first, second = submitted(client), submitted(client)
    concluded(parts, first, of_numbers())
    shown = client.get(PATH, params={"dataset_id": str(DATASET.id)}).json()["items"]
    assert [one["id"] for one in shown] == [str(second), str(first)]
    assert shown[1]["result"]["metrics"]["rmse"] > 0.0
    assert shown[1]["result"]["diagnostics"] is None
    for query, expected in (
        ("state=queued", [second]),
        ("model=small&version=1", [second, first]),
        ("version=2", []),
        (f"dataset_id={first}", []),
    ):
        assert [one["id"] for one in client.get(f"{PATH}?{query}").json()["items"]] == list(map(str, expected))
    of_version = client.get("/v1/models/small/versions/1/evaluations", params={"state": "succeeded"}).json()
    assert [one["id"] for one in of_version["items"]] == [str(first)]


def test_what_does_not_go_together_is_refused_with_its_place(client: TestClient, parts: SmallParts) -> None:
    detail = "Column 'y' of the dataset is of kind number, the version's is boolean."
    refused = client.post(PATH, json={**REQUEST, "model": "classes"})
    assert_problem(refused, "invalid-request", detail, [{"detail": detail, "pointer": "/dataset_id"}])
    assert_problem(client.post(PATH, json={**REQUEST, "model": "none"}), "not-found", "There is no model 'none'.")
    for wrong in ({"version": 0}, {"version": "0"}, {"shape": 1}):
        assert client.post(PATH, json={**REQUEST, **wrong}).status_code == 422
    assert not parts.stored.queue.submitted


def test_it_is_ended_and_done_again_by_its_own_paths(client: TestClient) -> None:
    job_id = submitted(client, priority=3)
    no_training = f"There is no training job {job_id}."
    assert_problem(client.post(f"/v1/training-jobs/{job_id}/cancel"), "not-found", no_training)
    assert_problem(client.get(f"/v1/training-jobs/{job_id}"), "not-found", no_training)
    assert_problem(client.get(f"/v1/training-jobs/{job_id}/events"), "not-found", no_training)
    assert client.post(f"{PATH}/{job_id}/retry").status_code == 409
    assert client.post(f"{PATH}/{job_id}/cancel").json()["state"] == "cancelled"
    again = client.post(f"{PATH}/{job_id}/retry").json()
    assert (again["retry_of"], again["priority"], again["state"]) == (str(job_id), 3, "queued")
    assert client.get("/v1/training-jobs").json()["items"] == []


def test_its_events_are_reported_at_its_own_path(client: TestClient) -> None:
    job_id = submitted(client)
    assert [event["number"] for event in client.get(f"{PATH}/{job_id}/events").json()["items"]] == [1]


def test_the_same_request_under_its_key_makes_one_evaluation(client: TestClient, parts: SmallParts) -> None:
    first, second = (client.post(PATH, json=REQUEST, headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert first.content == second.content
    assert parts.stored.count(JobRow) == 1


COMPARE = "/v1/models/small/versions/1/compare"
ROWS = [{"x": -1.0, "colour": "red"}, {"x": 1.0, "colour": "blue"}, {"x": 2.5, "colour": "red"}]


@pytest.fixture(scope="module")
def module_template(parts_template: Path) -> Path:
    """A challenger of the numbers, and classes in another order."""

    def fill(parts: SmallParts) -> None:
        made = small_version(name="other")
        model = replace(made.predictor.model, mean=np.array([0.5, -1.0, 1.0]))
        parts.stored.put_version(OWNER, replace(made, predictor=replace(made.predictor, learned=model)), number=1)
        parts.stored.put_version(OWNER, small_version("classification", name="turned", classes=(True, False)), number=1)

    return filled_template(parts_template, "evaluations.db", fill)


@pytest.fixture(autouse=True)
def others(client: TestClient) -> None:
    """The challenger and the classes by aliases."""
    for name in ("small", "other", "turned"):
        client.put(f"/v1/models/{name}/aliases/best", json={"version": 1})


def test_numbers_are_compared_row_by_row_and_in_sum(client: TestClient) -> None:
    response = client.post(COMPARE, json={"with": "other@best", "rows": ROWS})
    assert response.status_code == 200, response.text
    shown = response.json()
    assert (shown["first"], shown["second"]) == ({"model": "small", "version": 1}, {"model": "other", "version": 1})
    requested = {"rows": ROWS, "outputs": ["mean", "sd"]}
    for model, side in (("small", "first"), ("other", "second")):
        alone = client.post(f"/v1/models/{model}/predict", json=requested).json()["predictions"]
        assert [row[side] for row in shown["rows"]] == alone
    differences = [row["difference"] for row in shown["rows"]]
    assert differences == [row["second"]["mean"] - row["first"]["mean"] for row in shown["rows"]]
    sizes = [abs(difference) for difference in differences]
    assert min(sizes) > 0.0
    summary = shown["summary"]
    assert summary["rows"] == 3
    assert summary["mean_difference"] == pytest.approx(sum(differences) / 3)
    assert summary["mean_absolute_difference"] == pytest.approx(sum(sizes) / 3)
    assert summary["largest"] == {"row": sizes.index(max(sizes)), "difference": differences[sizes.index(max(sizes))]}


def test_classes_are_compared_by_label_and_probability(client: TestClient) -> None:
    shown = client.post("/v1/models/classes/versions/1/compare", json={"with": "turned", "rows": ROWS}).json()
    variations = [row["total_variation"] for row in shown["rows"]]
    for row, variation in zip(shown["rows"], variations, strict=True):
        first, second = (
            {one["label"]: one["probability"] for one in row[side]["probabilities"]} for side in ("first", "second")
        )
        assert sum(abs(first[label] - second[label]) for label in (False, True)) / 2 == pytest.approx(variation)
        assert row["first"]["label"] is (first[True] > first[False])
    summary = shown["summary"]
    assert (
        summary["labels_differ"] == sum(row["first"]["label"] != row["second"]["label"] for row in shown["rows"]) == 3
    )
    assert summary["mean_total_variation"] == pytest.approx(sum(variations) / 3)
    assert summary["largest"] == {"row": variations.index(max(variations)), "total_variation": max(variations)}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "table", [{"rows": ROWS}, {"columns": {"x": [-1.0, 1.0, 2.5], "colour": ["red", "blue", "red"]}}]
)
@pytest.mark.parametrize(
    "second",
    [
        "other@best",
        "other@1",
        "other",
        {"model": "other"},
        {"model": "other", "version": "best"},
        {"model": "other", "version": 1},
    ],
)
@pytest.mark.parametrize("first", ["1", "best"])
def test_both_may_be_named_in_every_way(
    client: TestClient, first: str, second: object, table: dict[str, object]
) -> None:
    required = client.post(COMPARE, json={"with": "other@1", "rows": ROWS}).content
    assert client.post(f"/v1/models/small/versions/{first}/compare", json={"with": second, **table}).content == required


@pytest.mark.parametrize(
    ("sent", "status", "pointer"),
    [
        ({"rows": ROWS}, 422, "/with"),
        ({"with": 7, "rows": ROWS}, 422, "/with"),
        ({"with": {"version": 1}, "rows": ROWS}, 422, "/with/model"),
        ({"with": {"model": "other", "version": 0}, "rows": ROWS}, 422, "/with/version"),
        ({"with": {"model": "other", "alias": "best"}, "rows": ROWS}, 422, "/with/alias"),
        ({"with": "nobody", "rows": ROWS}, 404, "/with"),
        ({"with": "other@0", "rows": ROWS}, 404, "/with"),
        ({"with": "other@nobody", "rows": ROWS}, 404, "/with"),
        ({"with": "classes", "rows": ROWS}, 409, "/with"),
    ],
)
def test_a_second_version_that_makes_no_sense_is_refused_at_its_place(
    client: TestClient, sent: dict[str, object], status: int, pointer: str
) -> None:
    response = client.post(COMPARE, json=sent)
    assert response.status_code == status, response.text
    assert {error["pointer"] for error in response.json()["errors"]} == {pointer}


@pytest.mark.parametrize(
    ("table", "status"),
    [
        ({"rows": [{"x": 1e300, "colour": "red"}]}, 422),
        ({"rows": [{"x": "a", "colour": "red"}]}, 422),
        ({"rows": [{"x": 1.0}]}, 422),
        ({"rows": ROWS, "interval": 0.9}, 422),
        ({"rows": ROWS * LIMITS.max_prediction_rows}, 413),
        ({}, 422),
        ({"rows": []}, 422),
        ({"columns": {"x": [], "colour": []}}, 422),
        ({"names": ["x", "colour"], "rows": []}, 422),
    ],
)
def test_rows_that_can_not_be_predicted_are_refused(client: TestClient, table: dict[str, object], status: int) -> None:
    response = client.post(COMPARE, json={"with": "other", **table})
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"] == "application/problem+json"


def test_the_first_version_that_is_not_there_is_404_without_a_place(client: TestClient) -> None:
    response = client.post("/v1/models/small/versions/9/compare", json={"with": "other", "rows": ROWS})
    assert (response.status_code, response.json()["errors"]) == (404, [])
