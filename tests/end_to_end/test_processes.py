"""Processes of a deployment that come, go and are distinguished by their settings."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import httpx2
import pytest

from relevance_bayes.client import ClientError
from relevance_bayes.client.responses import Json
from tests.end_to_end.deployment import Api, Deployment, deployed
from tests.end_to_end.tables import sinc
from tests.keys import add_key

WIDTH: Json = {"type": "kernel", "width": {"type": "fixed", "value": 2.0}}
POINTS: Json = {"x": [-3.0, 0.25, 7.5]}
KEY = {"Authorization": "Bearer only a test of keys"}


def test_a_newer_version_is_seen_by_every_api_within_a_second(two_apis: tuple[Api, Api]) -> None:
    one, other = two_apis
    dataset = one.calls.create_dataset(sinc(20), name="sinc-new")
    one.train(dataset_id=dataset.id, target="y", basis=WIDTH)
    assert other.calls.predict("sinc-new", {"columns": POINTS}).version == 1
    one.train(dataset_id=dataset.id, target="y", basis=WIDTH)
    Event().wait(1.0)
    assert other.calls.predict("sinc-new", {"columns": POINTS}).version == 2
    assert one.calls.predict("sinc-new", {"columns": POINTS}).version == 2
    assert one.calls.predict("sinc-new", {"columns": POINTS}, version=1).version == 1


def test_jobs_wait_for_a_worker_and_a_restart_of_every_process_changes_no_prediction(deployment: Deployment) -> None:
    api = deployment.api()
    assert api.http.get("/health/ready").json() == {
        "status": "ready",
        "database": True,
        "migrated": True,
        "worker": False,
        "has_loaded_versions": False,
        "has_space": True,
    }
    dataset = api.calls.create_dataset(sinc(20), name="sinc-waiting")
    job = api.calls.trainings.submit({"dataset_id": dataset.id, "target": "y"})
    assert api.calls.trainings.get(job.id).state == "queued"
    with pytest.raises(ClientError) as refused:
        api.calls.delete_dataset(dataset.id)
    assert (refused.value.problem.status, refused.value.problem.type) == (409, "/problems/in-use")
    assert api.calls.trainings.cancel(job.id).state == "cancelled"
    api.calls.delete_dataset(dataset.id)
    with pytest.raises(ClientError) as error:
        api.calls.dataset(dataset.id)
    assert error.value.problem.status == 404
    deployment.start("worker")
    other = api.calls.create_dataset(sinc(20), name="sinc-later")
    api.train(dataset_id=other.id, target="y", basis=WIDTH)
    assert api.calls.trainings.get(job.id).state == "cancelled"

    before = api.http.post("/v1/models/sinc-later/predict", json={"columns": POINTS}).content
    deployment.stop()
    again = deployment.api()
    assert again.http.post("/v1/models/sinc-later/predict", json={"columns": POINTS}).content == before


@pytest.fixture(scope="module")
def guarded(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """An API with a key and a small bound on bodies; nothing of this depends on the database."""
    directory = tmp_path_factory.mktemp("guarded")
    path = directory / "relevance.db"
    shutil.copyfile(sqlite_template, path)
    add_key(f"sqlite:///{path}", "only a test of keys")
    with deployed(f"sqlite:///{path}", directory) as deployment:
        yield deployment.api(RELEVANCE_MAX_BODY_BYTES="100000")


def test_with_a_key_only_those_who_know_it_get_in(guarded: Api) -> None:
    assert guarded.http.get("/v1/models").status_code == 401
    assert guarded.http.get("/v1/models", headers=KEY).status_code == 200
    assert guarded.http.get("/health/ready").status_code == 200


def test_a_large_body_is_refused_and_the_service_goes_on(guarded: Api) -> None:
    for content in (b" " * 200_000, iter([b" " * 50_000] * 10)):
        try:
            response = guarded.http.post(
                "/v1/training-jobs", content=content, headers={"Content-Type": "application/json", **KEY}
            )
        except httpx2.WriteError:  # the service closed the connection while more was coming, which is its right
            continue
        assert response.status_code == 413
        assert response.json()["type"] == "/problems/too-large"
    assert guarded.http.get("/health/live").status_code == 200
