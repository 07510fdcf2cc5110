import json
import logging

import pytest
import structlog

from app.http.health import Readiness
from app.jobs.statistics_repository import WorkerRepository
from app.logs import configure_logging
from app.maintenance.administration import migrate
from app.services import build
from app.settings import Settings
from tests.live_workers import workers_alive


@pytest.fixture
def settings(empty_database_url: str) -> Settings:
    return Settings(database_url=empty_database_url)


def test_a_service_is_ready_once_migrated_and_knows_of_its_workers(settings: Settings) -> None:
    parts = build(settings)
    assert parts.ready() == Readiness(database=True, migrated=False, worker=False)
    migrate(settings)
    migrate(settings)
    assert parts.ready() == Readiness(database=True, migrated=True, worker=False)
    assert workers_alive(settings) == ()
    with parts.base.transaction() as tx:
        WorkerRepository(tx).record_heartbeat("here:1")
    assert parts.ready() == Readiness(database=True, migrated=True, worker=True)
    assert workers_alive(settings) == ("here:1",)
    parts.close()


def test_parts_are_built_while_the_database_is_away() -> None:
    parts = build(Settings(database_url="postgresql://relevance@127.0.0.1:1/relevance"))
    assert parts.ready() == Readiness(database=False, migrated=False, worker=False)
    parts.close()


def test_each_record_is_one_line_of_json(capfd: pytest.CaptureFixture[str], logging_as_it_was: None) -> None:
    configure_logging("info")
    logging.getLogger("app.somewhere").info("began\nwell", extra={"job": "j1"})
    structlog.stdlib.get_logger("app.elsewhere").info("request", status=200)
    try:
        raise ValueError("no such thing")
    except ValueError:
        logging.getLogger("app.somewhere").exception("failed")
    logging.getLogger("uvicorn.error").info("hello", extra={"color_message": "\x1b[36mhello\x1b[0m"})
    logging.getLogger("dbos").info("chatter")
    logging.getLogger("app.somewhere").debug("details")
    records = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    first, second, third, fourth = records
    assert (first["event"], first["job"], first["level"], first["logger"]) == (
        "began\nwell",
        "j1",
        "info",
        "app.somewhere",
    )
    assert (second["event"], second["status"], second["logger"]) == ("request", 200, "app.elsewhere")
    assert third["level"] == "error"
    assert "ValueError: no such thing" in third["exception"]
    assert (fourth["event"], "color_message" in fourth) == ("hello", False)
    assert all(record["timestamp"].endswith("Z") for record in records)
