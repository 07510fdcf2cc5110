"""A real Prometheus that scrapes the service."""

import math
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from tests.deploy.programs import program, promtool
from tests.end_to_end.deployment import TIMEOUT

ROOT = Path(__file__).parents[2]
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
CONFIGURATION = """\
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: relevance
    authorization: {{credentials_file: {key}}}
    static_configs: [{{targets: ["{target}"], labels: {{{labels}}}}}]
"""


@contextmanager
def scraping(
    target: str, directory: Path, labels: str = "", *, key: str = "none is needed", rules: Path = ALERTS
) -> Iterator[httpx2.Client]:
    """A client of a Prometheus that scrapes a process, and evaluates the alert rules, or others."""
    (directory / "key").write_text(key)
    configuration = CONFIGURATION.format(rules=rules, key=directory / "key", target=target, labels=labels)
    (directory / "prometheus.yml").write_text(configuration)
    promtool("check", "config", directory / "prometheus.yml")
    with _running(directory) as client:
        yield client


@contextmanager
def _running(directory: Path) -> Iterator[httpx2.Client]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with (directory / "log").open("w") as log:
        process = subprocess.Popen(
            [
                program("prometheus"),
                f"--config.file={directory / 'prometheus.yml'}",
                f"--storage.tsdb.path={directory / 'data'}",
                f"--web.listen-address={address}",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        with httpx2.Client(base_url=f"http://{address}", timeout=TIMEOUT) as client:
            yield client
    finally:
        process.terminate()
        process.wait(TIMEOUT)


def queried(prometheus: httpx2.Client, expression: str) -> list[float]:
    """The values of an expression that are numbers; none before Prometheus responds."""
    try:
        response = prometheus.get("/api/v1/query", params={"query": expression})
    except httpx2.TransportError:
        return []
    if response.status_code == 503:  # it starts
        return []
    assert response.status_code == 200, response.text
    values = [float(one["value"][1]) for one in response.json()["data"]["result"]]
    return [value for value in values if not math.isnan(value)]


def awaited(prometheus: httpx2.Client, expression: str) -> list[float]:
    """The values of an expression, once it has some."""
    deadline = time.monotonic() + TIMEOUT
    while not (values := queried(prometheus, expression)):
        assert time.monotonic() < deadline, expression
        time.sleep(0.2)
    return values
