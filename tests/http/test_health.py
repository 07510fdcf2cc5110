"""Health over HTTP."""

from dataclasses import asdict, replace

import pytest
from starlette.testclient import TestClient

from app.http.health import Shutdown
from app.main import make_application
from tests.applications import LIMITS, Report, SmallParts


def test_a_process_that_responds_is_live(client: TestClient, parts: SmallParts) -> None:
    parts.report = Report(False, False, False)
    response = client.get("/health/live")
    assert (response.status_code, response.json()) == (200, {"status": "live"})


@pytest.mark.parametrize(
    ("report", "predictions", "training"),
    [
        (Report(True, True, True), 200, 200),
        (Report(True, True, False), 200, 503),
        (Report(True, False, False), 503, 503),
        (Report(False, False, False), 503, 503),
        (Report(False, False, False, has_loaded_versions=True), 200, 503),
        (Report(True, True, True, has_loaded_versions=True), 200, 200),
        (Report(True, True, True, has_space=False), 200, 503),
    ],
)
def test_ready_is_what_can_predict_and_for_training_what_can_train(
    client: TestClient, parts: SmallParts, report: Report, predictions: int, training: int
) -> None:
    parts.report = report
    for query, status in (("", predictions), ("?for=predictions", predictions), ("?for=training", training)):
        response = client.get(f"/health/ready{query}")
        assert response.status_code == status
        expected = replace(report, status="ready" if status == 200 else "not_ready")
        assert response.json() == asdict(expected)
    assert client.get("/v2/health/ready").status_code == predictions
    assert client.get("/health/ready?for=lunch").status_code == 422


def test_a_process_that_begins_to_stop_is_live_but_not_ready(parts: SmallParts) -> None:
    application = make_application(parts, LIMITS)
    shutdown: Shutdown = application.state.services[Shutdown]
    client = TestClient(application, base_url="http://localhost")
    assert client.get("/health/ready").status_code == 200
    shutdown.drains = True
    shutdown.request()
    response = client.get("/health/ready")
    assert response.status_code == 503
    assert response.json() == {
        "status": "stopping",
        "database": True,
        "migrated": True,
        "worker": True,
        "has_loaded_versions": False,
        "has_space": True,
    }
    assert client.get("/v2/health/ready").status_code == 503
    assert client.get("/health/live").status_code == 200
    for_balancers = client.get("/health/ready?stopping=404")
    assert (for_balancers.status_code, for_balancers.json()) == (404, response.json())


def test_only_a_process_that_stops_is_404_for_balancers(client: TestClient, parts: SmallParts) -> None:
    assert client.get("/health/ready?stopping=404").status_code == 200
    parts.report = Report(False, False, False)
    assert client.get("/health/ready?stopping=404").status_code == 503
    assert client.get("/health/ready?stopping=500").status_code == 422
