"""The password of the database changes while processes use it, without a failed request."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import Engine, text

from app.database.engine import Parameters, PasswordFile, Reachability, WatchedConnection, make_engine, url_in_use
from app.database.monitor import DatabaseMonitor, probe_of
from app.database.notifier import SqlNotifier, notify
from app.database.transaction import OpenTransaction, open_transactions
from app.errors import UnavailableError
from app.identity import uuid7
from tests.doubles.queue import ListedQueue
from tests.waiting import until

ROLE = "guarded"
on_postgresql = pytest.mark.parametrize("database", ["postgresql"])


class Administrator:
    """The superuser of the tests' server, who sets and requires the password of another role."""

    def __init__(self, engine: Engine) -> None:
        self._connection = psycopg.connect(
            engine.url.set(drivername="postgresql").render_as_string(hide_password=False), autocommit=True
        )
        (path,) = self._connection.execute("SHOW hba_file").fetchone() or ("",)
        self._rules = Path(path)
        self._before = self._rules.read_text()

    def require(self, password: str) -> None:
        """Make the role, whose connections need a password."""
        self._run(sql.SQL("CREATE ROLE {} LOGIN SUPERUSER PASSWORD {}"), sql.Identifier(ROLE), sql.Literal(password))
        self._rules.write_text(f"host all {ROLE} 127.0.0.1/32 scram-sha-256\n{self._before}")
        self._run(sql.SQL("SELECT pg_reload_conf()"))

    def change(self, password: str) -> None:
        self._run(sql.SQL("ALTER ROLE {} PASSWORD {}"), sql.Identifier(ROLE), sql.Literal(password))

    def end_connections(self) -> None:
        self._run(
            sql.SQL("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = {}"), sql.Literal(ROLE)
        )

    def close(self) -> None:
        self._rules.write_text(self._before)
        self._run(sql.SQL("SELECT pg_reload_conf()"))
        self.end_connections()
        self._run(sql.SQL("DROP ROLE IF EXISTS {}"), sql.Identifier(ROLE))
        self._connection.close()

    def _run(self, statement: sql.SQL, *values: sql.Composable) -> None:
        self._connection.execute(statement.format(*values))


@pytest.fixture
def administrator(engine: Engine) -> Iterator[Administrator]:
    administrator = Administrator(engine)
    try:
        administrator.require("first")
        until(lambda: not accepts(engine, "wrong"))
        yield administrator
    finally:
        administrator.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "password"
    path.write_text("first\n")
    return path


@pytest.fixture
def guarded(engine: Engine, administrator: Administrator, file: Path) -> Iterator[Engine]:
    """An engine for the role, by the file."""
    guarded = make_engine(engine.url.set(username=ROLE, password="from the URL"), password_file=file)
    yield guarded
    guarded.dispose()


def accepts(engine: Engine, password: str) -> bool:
    url = engine.url.set(drivername="postgresql", username=ROLE, password=password)
    try:
        psycopg.connect(url.render_as_string(hide_password=False)).close()
    except psycopg.OperationalError:
        return False
    return True


def reads(transaction: OpenTransaction) -> bool:
    try:
        with transaction() as tx:
            return tx.session.scalar(text("SELECT 1")) is not None
    except UnavailableError:
        return False


def count(engine: Engine) -> int:
    """A query on a new connection."""
    engine.dispose()
    with engine.connect() as connection:
        return int(connection.execute(text("SELECT count(*) FROM datasets")).scalar_one())


@on_postgresql
@pytest.mark.parametrize("lines", ["first\nsecond\n", "second\nfirst", "\n second \n\nfirst\n"])
def test_each_connection_is_made_with_a_password_that_the_server_accepts(
    lines: str, guarded: Engine, administrator: Administrator, file: Path
) -> None:
    assert count(guarded) == 0
    file.write_text(lines)
    assert count(guarded) == 0
    assert url_in_use(guarded).password == "first"
    administrator.change("second")
    assert count(guarded) == 0
    assert url_in_use(guarded).password == "second"
    file.write_text("second")
    assert count(guarded) == 0


@on_postgresql
def test_a_file_without_the_password_is_refused_until_it_has_it(
    guarded: Engine, administrator: Administrator, file: Path
) -> None:
    administrator.change("second")
    with pytest.raises(UnavailableError):
        url_in_use(guarded)
    file.write_text("second")
    assert count(guarded) == 0


@on_postgresql
def test_a_file_that_is_away_for_a_moment_counts_as_it_was(guarded: Engine, file: Path) -> None:
    assert count(guarded) == 0
    file.unlink()
    assert count(guarded) == 0


def test_where_the_server_is_away_a_second_password_is_not_tried(file: Path) -> None:
    tried: list[object] = []

    def connect(parameters: Parameters) -> object:
        tried.append(parameters["password"])
        return psycopg.connect("host=127.0.0.1 port=1 connect_timeout=2")

    file.write_text("first\nsecond")
    with pytest.raises(psycopg.OperationalError):
        PasswordFile(file).connect({}, connect)
    assert tried == ["first"]


@on_postgresql
def test_transactions_probes_and_listeners_go_on_with_the_next_password(
    guarded: Engine, administrator: Administrator, file: Path
) -> None:
    reachability = Reachability()
    watched = make_engine(guarded.url, password_file=file, reachability=reachability)
    monitor = DatabaseMonitor(watched, reachability, file)
    probe = probe_of(guarded, PasswordFile(file))
    transaction = open_transactions(watched, ListedQueue, monitor=monitor)
    try:
        assert reads(transaction)
        with watched.connect() as connection:
            driver: object = connection.connection.dbapi_connection
        assert isinstance(driver, WatchedConnection)
        probe.check()
        file.write_text("second\nfirst")
        with SqlNotifier(guarded).open() as listener:  # on a connection from before the change
            administrator.change("second")
            job = uuid7()
            with transaction() as tx:
                notify(tx.session.connection(), job)
            until(lambda: job in (listener.receive() or ()))
        file.write_text("second")
        administrator.end_connections()
        until(lambda: reads(transaction))
        probe.check()
        with SqlNotifier(guarded).open() as listener:
            assert listener.receive() == frozenset()
        assert not reachability.is_away
    finally:
        probe.close()
        monitor.close()
        watched.dispose()
