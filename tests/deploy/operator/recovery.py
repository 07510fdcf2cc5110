"""Each container is ended in turn, and the deployment restored from a backup into an empty volume."""

import urllib.request

import numpy as np

from relevance_bayes.client.responses import Json, SupervisedJob
from tests.deploy.operator.checks import MODEL, ROW, check, load_of
from tests.deploy.operator.deployment import Deployment, until
from tests.deploy.operator.page import Page

SERVICES = ("api", "worker", "database", "proxy")
N_ROWS = 500
BASIS: list[Json] = [
    {"type": "kernel", "kernel": {"type": "gaussian"}, "width": {"type": "cross_validation", "folds": 5}},
    {"type": "bias"},
]
"""A fit of several seconds, so that it runs while containers end."""

MAX_OUTAGE_SECONDS = {"api": 5.0, "worker": 2.0, "database": 5.0, "proxy": 60.0}
"""Of predictions; those through a proxy that is down have none to go through."""


def recovered(deployment: Deployment) -> None:
    """End each container, while a job runs and clients predict; all of them recover, and the job succeeds once."""
    print("| ended | predictions | failed | longest outage of a client | healthy again after |")
    for service in SERVICES:
        for container in deployment.containers(service):
            _end(deployment, service, container)


def _end(deployment: Deployment, service: str, container: str) -> None:
    job = _submitted(deployment, f"{service}-{container[:6]}")
    restarts = deployment.restarts(container)
    with load_of(deployment, predicts_only=True) as load:
        until(lambda: load.sent > 100, "the first predictions")
        deployment.end(container)
        until(lambda: deployment.restarts(container) > restarts, f"the restart of {service}")
        seconds = until(lambda: deployment.is_healthy(container), f"a healthy {service}")
        sent = load.sent
        until(lambda: load.sent > sent + 100, "the last predictions")
    print(f"| {service} | {load.sent:,} | {len(load.failed)} | {load.outage:.1f} s | {seconds:.0f} s |", flush=True)
    check(load.outage < MAX_OUTAGE_SECONDS[service], f"{service}: an outage of {load.outage:.1f} s")
    check(service == "proxy" or not load.failed, f"{service}: failed requests: {load.failed[:5]}")
    _succeeds_once(deployment, job)


def restored(deployment: Deployment, page: Page) -> None:
    """A backup into an empty volume: keys, versions, predictions, jobs and the audit are those of before."""
    before = _content(deployment)
    deployment.follow(page, "Back up and restore")
    (backup,) = (deployment.folder / "backups").iterdir()
    check(_content(deployment) == before, "the restored deployment differs")
    check(backup.stat().st_size > 0, "the backup is empty")
    print(f"restored from {backup.stat().st_size / 1e6:.1f} MB into an empty volume: equal", flush=True)


def _content(deployment: Deployment) -> tuple[bytes, str, list[tuple[str, str]]]:
    """A prediction, the verified chains of the audit, and all jobs with their states."""
    url = f"{deployment.url('PROXY_PORT', 'https')}/v1/models/{MODEL}/versions/1/predict"
    key = (deployment.folder / "secrets" / "api_key").read_text()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, ROW, headers), timeout=60) as response:
        predicted: bytes = response.read()
    verified = deployment.run("docker compose exec -T api relevance audit verify")
    with deployment.client() as calls:
        return predicted, verified, sorted((job.id, job.state) for job in calls.trainings.all())


def _submitted(deployment: Deployment, model: str) -> SupervisedJob:
    draw = np.random.default_rng(7)
    x = draw.uniform(-10.0, 10.0, N_ROWS)
    y = np.sinc(x / np.pi) + 0.1 * draw.standard_normal(N_ROWS)
    with deployment.client() as calls:
        dataset = calls.create_dataset({"x": x.tolist(), "y": y.tolist()}, name=model)
        requested: dict[str, Json] = {"dataset_id": dataset.id, "target": "y", "model": model, "basis": BASIS}
        return calls.trainings.submit({**requested, "prior": {"type": "independent"}, "effort": "quick"})


def _succeeds_once(deployment: Deployment, job: SupervisedJob) -> None:
    with deployment.client() as calls:
        until(lambda: calls.trainings.get(job.id).has_ended, f"the end of {job.model}")
        ended = calls.trainings.get(job.id)
        versions = list(calls.versions(job.model))
    check(ended.state == "succeeded" and len(versions) == 1, f"{job.model}: {ended.state}, {len(versions)} versions")
