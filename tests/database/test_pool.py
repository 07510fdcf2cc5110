"""The pool of connections: threads that wait, while others fail to connect and during an outage."""

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.database import engine as pool
from app.database.engine import Reachability, RetryingPool, refuse_during_outage
from app.database.failures import translated
from app.errors import UnavailableError


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """An engine with at most one connection."""
    made = create_engine(
        f"sqlite:///{tmp_path}/one.db", poolclass=RetryingPool, pool_size=1, max_overflow=0, pool_timeout=0.05
    )
    yield made
    made.dispose()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as made:
        yield made


def connect(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.exec_driver_sql("SELECT 1").scalar_one())


def waiting(threads: ThreadPoolExecutor, engine: Engine) -> "Future[int]":
    """Begin to wait for the one connection, which is in use."""
    found = threads.submit(connect, engine)
    time.sleep(0.3)
    assert not found.done()
    return found


def test_a_waiting_thread_gets_the_connection_that_is_returned(engine: Engine, threads: ThreadPoolExecutor) -> None:
    with engine.connect():
        found = waiting(threads, engine)
    assert found.result(5) == 1


def test_a_wait_ends_with_an_error(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "WAIT_SECONDS", 0.3)
    with engine.connect():
        began = time.monotonic()
        with pytest.raises(PoolTimeoutError):
            connect(engine)
        assert 0.3 <= time.monotonic() - began < 3.0


def test_threads_that_wait_are_refused_once_the_database_is_away(engine: Engine, threads: ThreadPoolExecutor) -> None:
    reachability = Reachability()
    refuse_during_outage(engine, reachability)
    with engine.connect():
        found = [waiting(threads, engine) for _ in range(2)]
        reachability.lost()
        for one in found:  # while the connection is still in use
            with pytest.raises(OperationalError, match="can't be reached"):
                one.result(5)
    with pytest.raises(UnavailableError), translated():
        connect(engine)
    reachability.reached()
    assert connect(engine) == 1


def test_a_waiting_thread_connects_after_another_failed_to(engine: Engine, threads: ThreadPoolExecutor) -> None:
    connecting, failing = Event(), Event()

    def fail(*_parameters: object) -> None:
        if not connecting.is_set():
            connecting.set()
            assert failing.wait(5)
            raise sqlite3.OperationalError("locking protocol")

    connect(engine)  # SQLAlchemy's first connection initializes the dialect
    engine.dispose()
    event.listen(engine, "do_connect", fail)
    first = threads.submit(connect, engine)
    assert connecting.wait(5)
    second = waiting(threads, engine)
    failing.set()
    with pytest.raises(OperationalError, match="locking protocol"):
        first.result(5)
    assert second.result(5) == 1
