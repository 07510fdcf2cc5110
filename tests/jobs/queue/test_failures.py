"""Messages of the engine and the pool on lost connections are counted instead; all others are logged."""

import logging

import psycopg
import pytest
from sqlalchemy.exc import OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.database.engine import make_engine
from app.jobs.queue.client import LOGGERS, reported_outages

UNREACHABLE = "postgresql+psycopg://relevance@127.0.0.1:1/relevance"


def log(name: str, error: Exception) -> None:
    """Log the error while it is handled, as the engine and the pool do."""
    logger = logging.getLogger(name)
    try:
        raise error
    except type(error):
        logger.warning("Exception listing queues: %s", error)
        logger.exception("Exception during reset")


@pytest.mark.parametrize("name", LOGGERS)
@pytest.mark.parametrize(
    "error",
    [
        OperationalError("SELECT 1", {}, Exception("connection refused\nIs the server running?")),
        psycopg.OperationalError("connection refused\nIs the server running?"),
        PoolTimeoutError("connection refused"),
    ],
    ids=["sqlalchemy", "psycopg", "pool"],
)
def test_a_lost_connection_is_reported_and_not_logged(
    caplog: pytest.LogCaptureFixture, name: str, error: Exception
) -> None:
    reports: list[str] = []
    with reported_outages(reports.append):
        log(name, error)
    assert caplog.messages == []
    assert len(reports) == 2
    assert all("connection refused" in report and "\n" not in report for report in reports)


def test_all_else_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    reports: list[str] = []
    mistake = ProgrammingError("SELECT", {}, Exception("syntax error"))
    with reported_outages(reports.append):
        logging.getLogger("dbos").warning("Contention detected")
        log("dbos", mistake)
    assert len(caplog.messages) == 3
    assert reports == []


def test_nothing_is_kept_out_of_the_log_afterwards(caplog: pytest.LogCaptureFixture) -> None:
    with reported_outages(lambda _: None):
        pass
    log("dbos", psycopg.OperationalError("connection refused"))
    assert len(caplog.messages) == 2


def test_the_pools_logger_is_the_one_that_is_filtered() -> None:
    engine = make_engine(UNREACHABLE)
    assert f"{type(engine.pool).__module__}.{type(engine.pool).__name__}" in LOGGERS
    engine.dispose()
