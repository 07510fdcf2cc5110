"""Processes of a deployment that come, go and are told apart by their settings."""

from threading import Event

import httpx2
import pytest

from relevance_bayes.client import ClientError
from relevance_bayes.client.responses import Json
from tests.end_to_end.deployment import Deployment
from tests.end_to_end.tables import sinc

WIDTH: Json = {"type": "kernel", "width": {"type": "fixed", "value": 2.0}}
POINTS: Json = {"x": [-3.0, 0.25, 7.5]}


def test_a_newer_version_is_seen_by_every_api_within_a_second(deployment: Deployment) -> None:
    deployment.start("worker")
    one, other = deployment.api(), deployment.api()
    dataset = one.calls.create_dataset(sinc(20), name="sinc-new")
    one.train(dataset_id=dataset.id, target="y", basis=WIDTH)
    assert other.calls.predict("sinc-new", {"columns": POINTS}).version == 1
    one.train(dataset_id=dataset.id, target="y", basis=WIDTH)
    Event().wait(1.0)
    assert other.calls.predict("sinc-new", {"columns": POINTS}).version == 2
    assert one.calls.predict("sinc-new", {"columns": POINTS}).version == 2
    assert one.calls.predict("sinc-new", {"columns": POINTS}, version=1).version == 1


def test_a_restart_of_every_process_changes_no_prediction(deployment: Deployment) -> None:
    deployment.start("worker")
    api = deployment.api()
    dataset = api.calls.create_dataset(sinc(30), name="sinc-restart")
    api.train(dataset_id=dataset.id, target="y", basis=WIDTH)
    before = api.http.post("/v1/models/sinc-restart/predict", json={"columns": POINTS}).content
    deployment.stop()
    again = deployment.api()
    assert again.http.post("/v1/models/sinc-restart/predict", json={"columns": POINTS}).content == before


def test_without_a_worker_jobs_wait_hold_their_dataset_and_can_be_ended(deployment: Deployment) -> None:
    api = deployment.api()
    assert api.http.get("/health/ready").json() == {
        "status": "ready",
        "database": True,
        "migrated": True,
        "worker": False,
        "has_loaded_versions": False,
    }
    dataset = api.calls.create_dataset(sinc(20), name="sinc-waiting")
    job = api.calls.trainings.submit({"dataset_id": dataset.id, "target": "y"})
    assert api.calls.trainings.get(job.id).state == "queued"
    with pytest.raises(ClientError) as refused:
        api.calls.delete_dataset(dataset.id)
    assert (refused.value.problem.status, refused.value.problem.type) == (409, "/problems/in-use")
    assert api.calls.trainings.cancel(job.id).state == "cancelled"
    api.calls.delete_dataset(dataset.id)
    with pytest.raises(ClientError) as gone:
        api.calls.dataset(dataset.id)
    assert gone.value.problem.status == 404
    deployment.start("worker")
    other = api.calls.create_dataset(sinc(20), name="sinc-later")
    api.train(dataset_id=other.id, target="y", basis=WIDTH)
    assert api.calls.trainings.get(job.id).state == "cancelled"


def test_with_a_key_only_those_who_know_it_get_in(sqlite_deployment: Deployment) -> None:
    api = sqlite_deployment.api(RELEVANCE_API_KEY="only a test")
    assert api.http.get("/v1/models").status_code == 401
    assert api.http.get("/v1/models", headers={"Authorization": "Bearer only a test"}).status_code == 200
    assert api.http.get("/health/ready").status_code == 200


def test_a_large_body_is_refused_and_the_service_goes_on(sqlite_deployment: Deployment) -> None:
    api = sqlite_deployment.api(RELEVANCE_MAX_BODY_BYTES="100000")
    for content in (b" " * 200_000, iter([b" " * 50_000] * 10)):
        try:
            response = api.http.post("/v1/training-jobs", content=content, headers={"Content-Type": "application/json"})
        except httpx2.WriteError:  # the service closed the door while more was coming, which is its right
            continue
        assert response.status_code == 413
        assert response.json()["type"] == "/problems/too-large"
    assert api.http.get("/health/live").status_code == 200
