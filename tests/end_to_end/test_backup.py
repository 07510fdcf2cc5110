"""A backup of a running service, with a job that runs and jobs that wait, goes on elsewhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.maintenance.backups import backup, copy_database, restore
from app.settings import Settings
from relevance_bayes.client.responses import Json
from relevance_bayes.records.jobs import VersionName
from tests.database_pool import DatabasePool
from tests.end_to_end.deployment import TIMEOUT, Api, Deployment, deployed
from tests.end_to_end.tables import sinc, sum_of_curves
from tests.waiting import until

ONE_BY_ONE = {
    "RELEVANCE_WORKER_SLOTS": "1",  # a job waits while another one runs
    "RELEVANCE_HEARTBEAT_INTERVAL_SECONDS": "0.5",
    "RELEVANCE_HEARTBEAT_TIMEOUT_SECONDS": "2",
}
POINTS: Json = {"columns": {"x": [-3.0, 0.25, 7.5]}}


@pytest.fixture
def restored_deployment(empty_database_url: str, tmp_path: Path) -> Iterator[Deployment]:
    directory = tmp_path / "restored"
    directory.mkdir()
    with deployed(empty_database_url, directory) as deployment:
        yield deployment


def predictions(api: Api) -> bytes:
    response = api.http.post("/v1/models/sinc/versions/1/predict", json=POINTS)
    assert response.status_code == 200, response.text
    return response.content


@pytest.mark.thorough
def test_jobs_go_on_and_predictions_are_the_same_bytes(
    deployment: Deployment, restored_deployment: Deployment, tmp_path: Path
) -> None:
    deployment.start("worker", **ONE_BY_ONE)
    api = deployment.api()
    dataset = api.calls.create_dataset(sinc(40), name="sinc")
    api.train(dataset_id=dataset.id, target="y")
    batch = api.calls.batch_predictions.submit("sinc", dataset.id)
    assert api.calls.batch_predictions.wait(batch.id).state == "succeeded"
    api.calls.batch_predictions.download(batch.id, tmp_path / "predictions")
    large = api.calls.create_dataset(sum_of_curves(250), name="curves")
    running = api.calls.trainings.submit({"dataset_id": large.id, "target": "y", "effort": "normal"})
    queued = api.calls.trainings.submit({"dataset_id": dataset.id, "target": "y", "effort": "quick"})
    until(lambda: api.calls.trainings.get(running.id).state == "running", seconds=TIMEOUT)

    path, manifest = backup(Settings(database_url=deployment.database_url), tmp_path / "backup.tar")
    assert api.calls.trainings.get(running.id).state == "running"
    assert manifest.rows["jobs"] == 4
    before = predictions(api)
    api.calls.trainings.cancel(running.id)
    deployment.stop()

    restore(Settings(database_url=restored_deployment.database_url), path)
    again = restored_deployment.api()
    assert predictions(again) == before
    assert [again.calls.trainings.get(job.id).state for job in (running, queued)] == ["running", "queued"]
    again.calls.batch_predictions.download(batch.id, tmp_path / "restored-predictions")
    assert (tmp_path / "restored-predictions").read_bytes() == (tmp_path / "predictions").read_bytes()

    restored_deployment.start("worker", **ONE_BY_ONE)
    for job in (running, queued):
        assert again.calls.trainings.wait(job.id).state == "succeeded"
    assert [move.state for move in again.calls.trainings.get(queued.id).transitions] == [
        "queued",
        "running",
        "succeeded",
    ]
    moves = again.calls.trainings.get(running.id).transitions
    assert (moves[-1].state, moves[-1].attempt) == ("succeeded", 2)
    assert again.calls.version("sinc", 2).job_id == queued.id


@pytest.mark.thorough
@pytest.mark.parametrize("database", ["sqlite"])
def test_a_copy_on_postgresql_goes_on(deployment: Deployment, postgres_databases: DatabasePool, tmp_path: Path) -> None:
    worker, api = deployment.start("worker"), deployment.api()
    dataset = api.calls.create_dataset(sinc(40), name="sinc")
    api.train(dataset_id=dataset.id, target="y")
    batch = api.calls.batch_predictions.submit("sinc", dataset.id)
    assert api.calls.batch_predictions.wait(batch.id).state == "succeeded"
    api.calls.batch_predictions.download(batch.id, tmp_path / "predictions")
    assert worker.stdin is not None
    worker.stdin.close()
    worker.wait(TIMEOUT)
    queued = api.calls.trainings.submit({"dataset_id": dataset.id, "target": "y", "effort": "quick"})
    before = predictions(api)
    deployment.stop()
    directory = tmp_path / "copied"
    directory.mkdir()
    with postgres_databases.database() as url:
        copy_database(Settings(database_url=deployment.database_url), Settings(database_url=url))
        with deployed(url, directory) as copied:
            again = copied.api()
            assert predictions(again) == before
            again.calls.batch_predictions.download(batch.id, tmp_path / "copied-predictions")
            assert (tmp_path / "copied-predictions").read_bytes() == (tmp_path / "predictions").read_bytes()
            copied.start("worker")
            assert again.calls.trainings.wait(queued.id).version == VersionName("sinc", 2)
