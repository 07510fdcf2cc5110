"""Health over HTTP."""

import pytest
from starlette.testclient import TestClient

from tests.api.conftest import InMemoryParts, Report


def test_a_process_that_answers_is_live(client: TestClient, parts: InMemoryParts) -> None:
    parts.report = Report(False, False, False)
    response = client.get("/health/live")
    assert (response.status_code, response.json()) == (200, {"status": "live"})


@pytest.mark.parametrize(
    ("report", "status"),
    [
        (Report(True, True, True), 200),
        (Report(True, True, False), 200),
        (Report(True, False, False), 503),
        (Report(False, False, False), 503),
    ],
)
def test_ready_is_a_database_that_answers_and_is_migrated(
    client: TestClient, parts: InMemoryParts, report: Report, status: int
) -> None:
    parts.report = report
    response = client.get("/health/ready")
    assert response.status_code == status
    assert response.json() == {
        "status": "ready" if status == 200 else "not_ready",
        "database": report.database,
        "migrated": report.migrated,
        "worker": report.worker,
    }
