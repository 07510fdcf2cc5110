"""Metrics of several API processes and a worker: each reports the sums over all, also of those that were killed."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx2
import pytest

from app.http.metrics import CACHE_SECONDS
from app.prediction.drift import MIN_ROWS
from relevance_bayes.records.values import Label
from tests.conftest import migrated_database
from tests.end_to_end.deployment import TIMEOUT, Api, Deployment, deployed
from tests.end_to_end.tables import sinc
from tests.expositions import Scrape, scrape
from tests.served import add_version
from tests.small_models import small_version
from tests.waiting import until

LIVE = "/health/live"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
FROM_DATABASE = ("relevance_jobs", "relevance_job_", "relevance_queue_jobs")


def scraped(api: Api) -> Scrape:
    return scrape(api.http.get("/metrics").raise_for_status().text)


def requests(api: Api) -> float:
    return scraped(api).total("relevance_http_requests_total", route=LIVE)


def put_to_work(api: Api) -> None:
    """Train a version, predict with it, and send outcomes, those of classes too."""
    dataset = api.calls.create_dataset(sinc(40), name="sinc-metrics")
    api.train(dataset_id=dataset.id, target="y")
    api.calls.predict("sinc-metrics", {"columns": {"x": [0.5, 3.0] * MIN_ROWS}})
    add_version(api.http, "small-metrics", small_version(name="small-metrics"))
    add_version(api.http, "classes-metrics", small_version("classification", name="classes-metrics"))
    for model, outcome in (("small-metrics", 1.0), ("classes-metrics", True)):
        api.calls.outcomes.record(model, 1.0)
        api.calls.predict(model, {"rows": [{"x": 1.0, "colour": "red"}]}, row_ids=["a"])
        until(partial(is_recorded, api, model, outcome))


def is_recorded(api: Api, model: str, outcome: Label) -> bool:
    return api.calls.outcomes.send(model, {"a": outcome}).unknown == 0


def documented() -> dict[str, tuple[str, str, str]]:
    """Type, labels and meaning of each metric of the page."""
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \| (.*) \|$", PAGE.read_text(), re.M)
    return {name: (kind, labels, text) for name, kind, labels, text in rows}


def exposed(found: Scrape) -> dict[str, tuple[str, str, str]]:
    """The same of what a process reports."""
    listed = {}
    for family in found.families:
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = {label: None for one in family.samples for label in one.labels if label != "le"}
        listed[name] = (family.type, ", ".join(f"`{label}`" for label in sorted(labels)), family.documentation)
    return listed


def test_the_page_lists_what_the_service_reports(api: Api) -> None:
    put_to_work(api)
    assert documented() == exposed(scraped(api))


def test_jobs_count_for_every_process_alike(two_apis: tuple[Api, Api]) -> None:
    put_to_work(two_apis[0])
    time.sleep(CACHE_SECONDS)
    scrapes = [scraped(api).values for api in two_apis]
    for values in scrapes:  # whether it is busy changes from scrape to scrape
        assert values['relevance_workers{state="busy"}'] + values['relevance_workers{state="idle"}'] == 1
    found, others = map(of_jobs, scrapes)
    assert found == others
    assert found['relevance_jobs_ended_total{kind="training",outcome="succeeded"}'] >= 1
    assert found['relevance_job_duration_seconds_sum{kind="training"}'] > 0


def of_jobs(values: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if name.startswith(FROM_DATABASE)}


def test_processes_that_share_a_directory_report_the_sums_over_all_and_lose_none(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    shared = {"RELEVANCE_METRICS_DIRECTORY": str(tmp_path / "metrics")}
    with migrated_database("sqlite", request, tmp_path) as url, deployed(url, tmp_path) as deployment:
        one, other = deployment.api(**shared), deployment.api(**shared)
        for api, number in ((one, 3), (other, 4)):
            for _ in range(number):
                api.http.get(LIVE)
        assert requests(one) == requests(other) == 7
        found = scraped(one)
        assert found.total("relevance_api_processes") == 2
        for api in (one, other):
            assert (found.value("process_cpu_seconds_total", pid=str(api.process.pid)) or 0) > 0
        kill(deployment, other)
        assert requests(one) == 7
        assert scraped(one).total("relevance_api_processes") == 1
        successor = deployment.api(**shared)
        successor.http.get(LIVE)
        assert requests(one) == requests(successor) == 8
    with migrated_database("sqlite", request, tmp_path) as url, deployed(url, tmp_path) as deployment:
        assert requests(deployment.api(**shared)) == 8


def kill(deployment: Deployment, api: Api) -> None:
    """Kill a process, which then no longer belongs to the deployment."""
    api.process.kill()
    api.process.communicate()
    deployment.processes.remove(api.process)


@pytest.mark.thorough
def test_processes_behind_one_port_report_the_sums_over_all(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    with migrated_database("sqlite", request, tmp_path) as url, workers_of_uvicorn(url, tmp_path) as port:
        for _ in range(20):  # each on a connection of its own, so that either process answers
            assert httpx2.get(f"http://127.0.0.1:{port}{LIVE}").status_code == 200
        for _ in range(20):
            found = scrape(httpx2.get(f"http://127.0.0.1:{port}/metrics").text)
            assert found.total("relevance_http_requests_total", route=LIVE) == 20
            assert found.total("relevance_api_processes") == 2


@contextmanager
def workers_of_uvicorn(url: str, directory: Path) -> Iterator[int]:
    """Two processes of an ASGI server on one port, both of which serve."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    shared = directory / "shared"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RELEVANCE_")}
    with (directory / "uvicorn.log").open("w") as log:
        server = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "uvicorn",
                "--factory",
                "app.main:create_app",
                "--workers",
                "2",
                "--port",
                str(port),
            ],
            env=environment | {"RELEVANCE_DATABASE_URL": url, "RELEVANCE_METRICS_DIRECTORY": str(shared)},
            stdout=log,
            stderr=log,
        )
    try:
        deadline = time.monotonic() + TIMEOUT
        while len(list(shared.glob("*.numbers"))) < 2:
            assert time.monotonic() < deadline, (directory / "uvicorn.log").read_text()
            time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait(TIMEOUT)
