"""The alert rules and the dashboard, checked by a real Prometheus that scrapes the service."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx2
import pytest

from relevance_bayes.client.responses import Json
from tests.conftest import migrated_database
from tests.deploy.programs import promtool
from tests.deploy.prometheus_server import ALERTS, awaited, queried, scraping
from tests.end_to_end.deployment import TIMEOUT, Api, deployed
from tests.end_to_end.tables import sinc

ROOT = Path(__file__).parents[2]
DASHBOARD = ROOT / "deploy" / "grafana" / "dashboard.json"
PAGE = ROOT / "docs" / "how-to" / "monitoring.md"
VARIABLES = {"$job": "relevance", "$__rate_interval": "1m"}


@pytest.fixture(scope="module")
def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """An API process with a worker, and one version, which predicts."""
    directory = tmp_path_factory.mktemp("service")
    with migrated_database("sqlite", request, directory) as url, deployed(url, directory) as deployment:
        deployment.start("worker")
        yield deployment.api()


@pytest.fixture(scope="module")
def prometheus(api: Api, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A client of a Prometheus that scrapes the service."""
    target = api.http.base_url.netloc.decode()
    with scraping(target, tmp_path_factory.mktemp("prometheus")) as client:
        yield client


def expressions() -> Mapping[str, str]:
    """The expressions of the dashboard, by the title of their panel and their legend."""
    dashboard: dict[str, Json] = json.loads(DASHBOARD.read_text())
    panels = dashboard["panels"]
    assert isinstance(panels, list)
    found: dict[str, str] = {}
    for panel in panels:
        assert isinstance(panel, dict)
        targets = panel.get("targets", [])
        assert isinstance(targets, list)
        for target in targets:
            assert isinstance(target, dict)
            expression = str(target["expr"])
            for variable, value in VARIABLES.items():
                expression = expression.replace(variable, value)
            found[f"{panel['title']}: {target['legendFormat']}"] = expression
    return found


def test_the_rules_are_valid_and_fire_where_they_should() -> None:
    promtool("check", "rules", ALERTS)
    promtool("test", "rules", Path(__file__).with_name("alerts_test.yml"))


def test_the_configuration_of_compose_is_valid() -> None:
    promtool("check", "config", "--syntax-only", ROOT / "deploy" / "prometheus" / "prometheus.yml")


def test_the_page_lists_the_alerts() -> None:
    assert re.findall(r"^\| `(Relevance\w+)` \|", PAGE.read_text(), re.M) == re.findall(
        r"alert: (\w+)", ALERTS.read_text()
    )


def test_promtool_accepts_the_metrics(api: Api) -> None:
    api.http.get("/health/live")
    promtool("check", "metrics", text=api.http.get("/metrics").text)


def test_each_expression_of_the_dashboard_returns_data(api: Api, prometheus: httpx2.Client) -> None:
    awaited(prometheus, "relevance_jobs_ended_total")  # the durations of jobs need a scrape before the first job
    deadline = time.monotonic() + TIMEOUT
    dataset = api.calls.create_dataset(sinc(40), name="sinc")
    api.train(dataset_id=dataset.id, target="y")
    empty = dict(expressions())
    assert len(empty) > 30
    while empty:
        assert time.monotonic() < deadline, empty
        api.calls.predict("sinc", {"columns": {"x": [0.5, 3.0] * 150}})
        empty = {name: expression for name, expression in empty.items() if not queried(prometheus, expression)}
        time.sleep(0.5)


def test_prometheus_evaluates_each_rule(prometheus: httpx2.Client) -> None:
    deadline = time.monotonic() + TIMEOUT
    health: list[str] = ["unknown"]
    while "unknown" in health:
        assert time.monotonic() < deadline
        time.sleep(0.2)
        groups = prometheus.get("/api/v1/rules").json()["data"]["groups"]
        health = [rule["health"] for group in groups for rule in group["rules"]] or ["unknown"]
    assert set(health) == {"ok"}
    assert len(health) == ALERTS.read_text().count("alert: ")
