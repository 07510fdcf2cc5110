"""The monitor of a database: transactions while the database is away, and once it is back."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from app.database import engine as pool
from app.database import monitor as monitors
from app.database.engine import Reachability, make_engine
from app.database.migrations import migrate
from app.database.monitor import DatabaseMonitor
from app.database.transaction import OpenTransaction, open_transactions
from app.errors import OutOfReachError, UnavailableError
from app.identity import BUILT_IN_OWNER as OWNER
from app.registry.repository import ModelRepository, version_ids
from relevance_bayes.records.errors import NotFoundError
from tests import postgres
from tests.conftest import PROGRAMS
from tests.doubles.queue import ListedQueue
from tests.waiting import until

ENDED_WITHIN = 6.0
"""Seconds after which nobody waits for a server that does not answer."""

BACK_WITHIN = 3.0


@dataclass
class Monitored:
    engine: Engine
    reachability: Reachability
    monitor: DatabaseMonitor
    transaction: OpenTransaction

    def work(self) -> None:
        """Do a short transaction."""
        with self.transaction() as tx:
            version_ids(tx, [(OWNER, "small", None)])

    def seconds_refused(self) -> float:
        """The seconds until a transaction is refused."""
        began = time.monotonic()
        with pytest.raises(UnavailableError):
            self.work()
        return time.monotonic() - began


@pytest.fixture
def monitored_of() -> Iterator[Callable[[str], Monitored]]:
    made: list[Monitored] = []

    def make(url: str) -> Monitored:
        reachability = Reachability()
        engine = make_engine(url, reachability=reachability)
        monitor = DatabaseMonitor(engine, reachability)
        made.append(Monitored(engine, reachability, monitor, open_transactions(engine, ListedQueue, monitor=monitor)))
        return made[-1]

    yield make
    for one in made:
        one.monitor.close()
        one.engine.dispose()


@pytest.fixture
def monitored(database_url: str, monitored_of: Callable[[str], Monitored]) -> Monitored:
    return monitored_of(database_url)


@pytest.fixture(scope="module")
def mortal() -> Iterator[postgres.MortalServer]:
    if PROGRAMS is None:
        pytest.skip(f"PostgreSQL is not installed: {postgres.INSTALL}")
    with postgres.mortal(PROGRAMS) as server:
        server.create("relevance")
        engine = make_engine(server.url("relevance"))
        migrate(engine)
        engine.dispose()
        yield server


def url_of(server: postgres.MortalServer) -> str:
    return server.url("relevance").render_as_string(hide_password=False)


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.name == "app.database.monitor"]


def test_a_database_that_responds_is_reachable_whatever_it_responds(monitored: Monitored) -> None:
    monitored.work()
    with pytest.raises(NotFoundError), monitored.transaction() as tx:
        ModelRepository(tx).version(OWNER, "nothing")
    assert monitored.reachability.is_reachable


def test_a_suspicion_is_checked_at_once(monitored: Monitored) -> None:
    monitored.work()
    monitored.reachability.suspect()
    until(lambda: monitored.reachability.is_reachable, seconds=5.0)


def test_a_long_transaction_is_no_outage(monitored: Monitored, monkeypatch: pytest.MonkeyPatch) -> None:
    probes: list[float] = []
    check = monitored.monitor._probe.check

    def counted() -> None:
        probes.append(time.monotonic())
        check()

    monkeypatch.setattr(monitored.monitor._probe, "check", counted)
    with monitored.transaction() as tx:
        version_ids(tx, [(OWNER, "small", None)])
        until_late = time.monotonic() + 2.0
        while time.monotonic() < until_late:
            assert not monitored.reachability.is_away
            time.sleep(0.05)
    assert monitored.reachability.is_reachable
    assert 1 <= len(probes) <= 12  # five a second once it is late, and the first one


def test_a_server_that_was_killed_is_away_and_comes_back(
    mortal: postgres.MortalServer, monitored_of: Callable[[str], Monitored], caplog: pytest.LogCaptureFixture
) -> None:
    monitored = monitored_of(url_of(mortal))
    monitored.work()
    mortal.kill()
    monitored.seconds_refused()
    until(lambda: monitored.reachability.is_away, seconds=5.0)
    for _ in range(20):
        with pytest.raises(OutOfReachError):
            monitored.work()
    mortal.start()
    until(lambda: monitored.reachability.is_reachable, seconds=BACK_WITHIN)
    for _ in range(20):
        monitored.work()
    assert logged(caplog) == ["the database is unreachable", "the database is reachable again"]


@pytest.mark.thorough
def test_nobody_waits_for_a_server_that_is_still(
    mortal: postgres.MortalServer, monitored_of: Callable[[str], Monitored]
) -> None:
    monitored = monitored_of(url_of(mortal))
    sleeping, frozen = Event(), Event()

    def wait_for_the_server() -> None:
        with monitored.transaction() as tx:
            version_ids(tx, [(OWNER, "small", None)])
            sleeping.set()
            frozen.wait(30.0)
            version_ids(tx, [(OWNER, "small", None)])

    with ThreadPoolExecutor(4) as threads:
        within = threads.submit(wait_for_the_server)
        assert sleeping.wait(30.0)
        monitored.work()
        mortal.freeze()
        try:
            frozen.set()
            others = [threads.submit(monitored.seconds_refused) for _ in range(3)]
            assert max(other.result(30.0) for other in others) < ENDED_WITHIN
            with pytest.raises(UnavailableError):
                within.result(30.0)
            assert monitored.seconds_refused() < 0.2
        finally:
            mortal.thaw()
    until(lambda: monitored.reachability.is_reachable, seconds=BACK_WITHIN)
    monitored.work()


def test_a_server_without_free_connections_is_not_away(
    mortal: postgres.MortalServer, monitored_of: Callable[[str], Monitored]
) -> None:
    owner = make_engine(url_of(mortal))
    with owner.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("CREATE ROLE limited LOGIN IN ROLE pg_read_all_data"))
        monitored = monitored_of(url_of(mortal).replace("relevance@", "limited@"))
        monitored.work()
        monitored.reachability.suspect()
        until(lambda: monitored.reachability.is_reachable, seconds=5.0)
        connection.execute(text("ALTER ROLE limited CONNECTION LIMIT 0"))
        monitored.reachability.suspect()
        until(lambda: monitored.reachability.is_reachable, seconds=5.0)
        monitored.work()
    owner.dispose()


@pytest.fixture
def file(tmp_path: Path, sqlite_template: Path) -> Path:
    path = tmp_path / "relevance.db"
    path.write_bytes(sqlite_template.read_bytes())
    return path


def test_a_file_that_was_moved_is_away_until_it_is_back(
    file: Path, monitored_of: Callable[[str], Monitored], caplog: pytest.LogCaptureFixture
) -> None:
    monitored = monitored_of(f"sqlite:///{file}")
    monitored.work()
    file.rename(file.with_suffix(".moved"))
    assert monitored.seconds_refused() < 0.5
    until(lambda: monitored.reachability.is_away, seconds=5.0)
    assert not file.exists()
    file.with_suffix(".moved").rename(file)
    until(lambda: monitored.reachability.is_reachable, seconds=BACK_WITHIN)
    monitored.work()
    assert logged(caplog) == ["the database is unreachable", "the database is reachable again"]


def test_a_file_in_place_of_another_is_the_one_that_is_used(
    file: Path, sqlite_template: Path, monitored_of: Callable[[str], Monitored]
) -> None:
    monitored = monitored_of(f"sqlite:///{file}")
    monitored.work()
    other = file.with_suffix(".other")
    other.write_bytes(sqlite_template.read_bytes())
    with closing(sqlite3.connect(other)) as plain, plain:
        plain.execute("CREATE TABLE marked (x)")
    other.replace(file)
    monitored.work()
    with monitored.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM marked")).scalar() == 0


def test_a_file_that_became_unreadable_is_away(file: Path, monitored_of: Callable[[str], Monitored]) -> None:
    monitored = monitored_of(f"sqlite:///{file}")
    monitored.work()
    monitored.engine.dispose()
    content = file.read_bytes()
    file.write_bytes(b"no database" * 1000)
    monitored.seconds_refused()
    until(lambda: monitored.reachability.is_away, seconds=5.0)
    file.write_bytes(content)
    until(lambda: monitored.reachability.is_reachable, seconds=BACK_WITHIN)
    monitored.work()


class SilentProbe:
    """A probe that waits until it is released, and then fails."""

    def __init__(self) -> None:
        self.began, self.released = Event(), Event()

    def check(self) -> None:
        self.began.set()
        self.released.wait(10.0)
        raise UnavailableError("locked")

    def close(self) -> None:
        pass


def test_a_probe_without_a_response_is_an_outage_before_it_fails(
    tmp_path: Path, monitored_of: Callable[[str], Monitored], monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = SilentProbe()
    monkeypatch.setattr(monitors, "probe_of", lambda *_: probe)
    for module in (monitors, pool):
        monkeypatch.setattr(module, "PROBE_SECONDS", 0.2)
    monitored = monitored_of(f"sqlite:///{tmp_path}/one.db")
    with monitored.monitor.unit():  # the first transaction starts the probes
        assert probe.began.wait(10.0)
    assert not monitored.reachability.is_away
    time.sleep(0.3)
    with pytest.raises(OutOfReachError), monitored.monitor.unit():
        pass
    with pytest.raises(OperationalError, match="can't be reached"):
        monitored.engine.connect()
    probe.released.set()
