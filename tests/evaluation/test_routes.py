"""Evaluations over HTTP: asked for, looked at, listed, ended."""

from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest
from starlette.testclient import TestClient

from app.evaluation.jobs import EVALUATION_RESULT
from app.evaluation.metrics.classes import ClassScores
from app.evaluation.metrics.numbers import NumberResult, NumberScores
from app.evaluation.results import Evaluation
from app.identity import BUILT_IN_OWNER
from app.jobs.tables import TrainingJobRow
from app.prediction import evaluate_block
from app.tasks.labelled import LabelledClasses, LabelledNumbers
from relevance_bayes.tables.columns import Block
from relevance_bayes.types.jobs import Transition
from tests.applications import DATASET, NOW, SmallParts
from tests.narrowing import of_kind
from tests.problems import assert_problem
from tests.served_versions import served
from tests.small_models import small_version
from tests.small_tables import flags, numbers, texts

PATH = "/v1/evaluations"
ASKED = {"model": "small", "dataset_id": str(DATASET.id)}
INPUTS: Block = {"x": numbers(0.5, 1.0, 3.0, 2.0), "colour": texts("red", "blue", "red", "blue")}


def submitted(client: TestClient, **more: object) -> UUID:
    response = client.post(PATH, json={**ASKED, **more})
    assert response.status_code == 202, response.text
    return UUID(response.json()["id"])


def concluded(parts: SmallParts, job_id: UUID, result: Evaluation) -> None:
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


def of_numbers() -> Evaluation:
    (labelled,) = evaluate_block(served(small_version()), {**INPUTS, "y": numbers(11.0, 9.5, 13.0, 8.0)}).labelled
    return Evaluation(
        NumberScores.of(of_kind(LabelledNumbers, labelled)).result(), without_target=2, rows_not_predicted=1
    )


def test_an_evaluation_is_accepted_for_the_version_that_its_reference_means(
    client: TestClient, parts: SmallParts
) -> None:
    response = client.post(PATH, json=ASKED)
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
    assert result["metrics"]["rmse"] == pytest.approx(of_kind(NumberResult, found.figures).rmse)
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
    concluded(parts, job_id, Evaluation(ClassScores.of(of_kind(LabelledClasses, labelled)).result(), 0, 0))
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
    refused = client.post(PATH, json={**ASKED, "model": "classes"})
    assert_problem(refused, "invalid-request", detail, [{"detail": detail, "pointer": "/dataset_id"}])
    assert_problem(client.post(PATH, json={**ASKED, "model": "none"}), "not-found", "There is no model 'none'.")
    for wrong in ({"version": 0}, {"version": "0"}, {"shape": 1}):
        assert client.post(PATH, json={**ASKED, **wrong}).status_code == 422
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


def test_its_events_are_told_at_its_own_path(client: TestClient) -> None:
    job_id = submitted(client)
    assert [event["number"] for event in client.get(f"{PATH}/{job_id}/events").json()["items"]] == [1]


def test_the_same_request_under_its_key_makes_one_evaluation(client: TestClient, parts: SmallParts) -> None:
    first, second = (client.post(PATH, json=ASKED, headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert first.content == second.content
    assert parts.stored.count(TrainingJobRow) == 1
