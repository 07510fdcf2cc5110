"""Engines: SQLite and PostgreSQL, configured to behave alike; their pools, passwords and connections."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from threading import Condition
from typing import TypeAlias, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.adapt import AdaptersMap
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow
from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.engine import Dialect
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry

from app.database.failures import translated

PROBE_SECONDS = 2
"""Seconds after which a database that does not respond counts as unreachable; libpq's shortest timeout."""


class Reachability:
    """The state of the database as this process last saw it; safe to use from many threads.

    It is suspect as soon as an operation failed or is late; optional uses of the database are then skipped. It is away
    once a probe failed; all uses are then refused at once, until the database responds again.
    `suspicions` counts the failures and delays. `now` is a monotonic clock.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.is_reachable = True
        self.is_away = False
        self.changed = Condition()
        self._now = now
        self._reached_at = now()
        self.suspicions = 0
        self.probe_began: float | None = None
        """The time at which the present probe began, by `now`; None where there is none."""

    def reached(self, suspicions: int | None = None) -> None:
        """Record that the database has just responded.

        `suspicions` is the count before the operation began; a later suspicion is not cleared by it.
        """
        self._reached_at = self._now()
        if self.is_reachable:
            return
        with self.changed:
            if suspicions in {None, self.suspicions}:
                self._become(is_reachable=True, is_away=False)

    def suspect(self) -> None:
        """Record that the database may be unreachable."""
        with self.changed:
            self.suspicions += 1
            if self.is_reachable:
                self._become(is_reachable=False, is_away=False)

    def lost(self) -> None:
        """Record that the database does not respond."""
        self._become(is_reachable=False, is_away=True)

    def seconds_since_reached(self) -> float:
        """Return the seconds since the database last responded, or since the beginning."""
        return self._now() - self._reached_at

    def is_probe_late(self, seconds: float) -> bool:
        """Return whether a probe has waited for so many seconds, in which nothing succeeded.

        SQLite waits up to 10 s for the locks of a write-ahead log, whatever its timeout.
        """
        began = self.probe_began
        return began is not None and min(self._now() - began, self.seconds_since_reached()) > seconds

    def _become(self, *, is_reachable: bool, is_away: bool) -> None:
        with self.changed:
            self.is_reachable, self.is_away = is_reachable, is_away
            self.changed.notify_all()


Connected = TypeVar("Connected")
Parameters: TypeAlias = dict[str, str | int | AdaptersMap]


class PasswordFile:
    """A file of passwords, one a line. Each connection is made with the first that the server accepts.

    So the file can have the present and the next password while the server changes from one to the other. A file that
    can't be read counts as it last was.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: tuple[str, ...] = ()

    def passwords(self) -> tuple[str, ...]:
        """Return the passwords, the first one first; raises OSError where the file was never read."""
        try:
            self._last = _passwords_in(self._path) or self._last  # it is empty while somebody writes it
        except (OSError, UnicodeDecodeError):
            if not self._last:
                raise
        return self._last

    def connect(self, parameters: Parameters, connect: Callable[[Parameters], Connected]) -> Connected:
        """Return the connection that a function makes; raises the error of the first password that failed."""
        first: psycopg.OperationalError | None = None
        for password in self.passwords():
            try:
                return connect({**parameters, "password": password})
            except psycopg.OperationalError as error:
                first = first or error
                if error.pgconn is None or not error.pgconn.used_password:
                    break  # the server did not get as far as the password
        raise first or psycopg.OperationalError(f"{self._path} has no password")

    def __call__(
        self, dialect: Dialect, _entry: ConnectionPoolEntry, _arguments: list[str], parameters: Parameters
    ) -> DBAPIConnection:
        """Connect for an engine, as its listener of `do_connect`."""
        return self.connect(parameters, lambda given: dialect.connect(**given))


def _passwords_in(path: Path) -> tuple[str, ...]:
    """Return the passwords in a file: its lines, without spaces at their ends; raises OSError."""
    return tuple(filter(None, map(str.strip, path.read_text().splitlines())))


def url_in_use(engine: Engine) -> URL:
    """Return the URL of an engine, of PostgreSQL with the password that it connects with; raises UnavailableError."""
    with translated(), engine.connect() as connection:
        driver: object = connection.connection.dbapi_connection
        password = driver.info.password if isinstance(driver, psycopg.Connection) else None
    return engine.url.set(password=password) if password else engine.url


Identity: TypeAlias = tuple[int, int] | None
"""Device and inode; None if there is no file."""

OPENED = "opened"
"""The key, in the pool's record of a connection, of the identity of the opened file."""


def _watch_file(engine: Engine, path: str, *, creates: bool) -> None:
    """Open the file at `path` in an engine's connections; create it only where `creates`.

    SQLite creates an empty file where there is none, and keeps using the file that it opened when that is moved. So the
    identity of the opened file is compared with that of the path at each checkout from the pool, and all connections
    are replaced where they differ.
    """
    uri = uri_of(path, creates=creates)

    def connect(
        _dialect: Dialect, entry: ConnectionPoolEntry, _arguments: list[str], parameters: dict[str, bool]
    ) -> sqlite3.Connection:
        entry.info[OPENED] = _identity(path)  # before opening, so that a replacement in between is detected
        return sqlite3.connect(uri, uri=True, check_same_thread=parameters["check_same_thread"])

    def check_out(_connection: DBAPIConnection, entry: ConnectionPoolEntry, _proxy: object) -> None:
        if entry.info[OPENED] != _identity(path):
            raise InvalidatePoolError("the file was moved or replaced")

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "checkout", check_out)


def uri_of(path: str, *, creates: bool = False) -> str:
    """Return the URI by which SQLite opens the file at a path; it is created only where `creates`."""
    return f"{Path(path).absolute().as_uri()}?mode={'rwc' if creates else 'rw'}"


def _identity(path: str) -> Identity:
    try:
        found = os.stat(path)  # noqa: PTH116  # a third of the time of Path.stat, before each transaction
    except OSError:
        return None
    return found.st_dev, found.st_ino


Result = TypeVar("Result")

WAKE_SECONDS = 0.1
"""Seconds between checks, on a waiting connection, of whether the server is unreachable."""


class WatchedConnection(psycopg.Connection[TupleRow]):
    """A connection that raises OperationalError from a wait once the server is found to be unreachable.

    A server whose process is stopped, or whose network is cut, accepts a statement and never responds; neither the
    protocol nor the kernel ends such a wait.
    """

    reachability: Reachability | None = None

    def wait(self, gen: PQGen[Result], interval: float = WAKE_SECONDS, timeout: float | None = None) -> Result:
        """Consume a generator of psycopg that operates on the connection."""
        if self.reachability is None:
            return super().wait(gen, interval, timeout)
        return super().wait(self._unless_away(gen, self.reachability), interval, timeout)

    def _unless_away(self, gen: PQGen[Result], reachability: Reachability) -> PQGen[Result]:
        try:
            required = next(gen)
            while True:
                ready = yield required
                if not ready and reachability.is_away:
                    self.close()
                    raise psycopg.OperationalError("the server can't be reached")
                required = gen.send(ready)
        except StopIteration as end:
            result: Result = end.value
            return result


def _watch_connections(engine: Engine, reachability: Reachability, passwords: PasswordFile | None = None) -> None:
    """Let an engine for PostgreSQL make watched connections."""

    def watched(parameters: Parameters) -> WatchedConnection:
        context = parameters.get("context")
        connection = WatchedConnection.connect(
            connection_string(parameters), context=context if isinstance(context, AdaptersMap) else None
        )
        connection.reachability = reachability
        return connection

    def connect(
        _dialect: Dialect, _entry: ConnectionPoolEntry, _arguments: list[str], parameters: Parameters
    ) -> WatchedConnection:
        return watched(parameters) if passwords is None else passwords.connect(parameters, watched)

    event.listen(engine, "do_connect", connect)


def connection_string(parameters: Parameters, **more: int) -> str:
    """Return libpq's connection string for the parameters of SQLAlchemy's dialect."""
    settings = {name: str(one) for name, one in (parameters | more).items() if isinstance(one, str | int)}
    return make_conninfo("", **settings)


WAIT_SECONDS = 30.0
"""Seconds for which a transaction waits for a connection."""

RETRY_SECONDS = 0.1
"""Seconds after which a waiting thread tries to connect."""


class RetryingPool(QueuePool):
    """A pool whose waiting threads connect by themselves once the number of connections allows it.

    Those of QueuePool wait for a connection to be returned, and so for the whole timeout where the others failed to
    connect. Make it with a timeout of RETRY_SECONDS.
    """

    refuse: Callable[[], None] | None = None
    """Called before each retry: raises where waiting has no sense."""

    def _do_get(self) -> ConnectionPoolEntry:
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                return super()._do_get()
            except PoolTimeoutError:
                if time.monotonic() > deadline:
                    raise
                if self.refuse is not None:
                    self.refuse()


logging.getLogger(f"{__name__}.{RetryingPool.__name__}").setLevel(logging.WARNING)
# SQLAlchemy names a pool's logger after its class, and logs each connection that is replaced at the level INFO.


def refuse_during_outage(engine: Engine, reachability: Reachability) -> None:
    """Let an engine's pool raise OperationalError at once, for threads that wait too, while the database is away.

    Call it before the engine gets another listener of "do_connect": none is called after the first that connects.
    """

    def refuse() -> None:
        if reachability.is_away or reachability.is_probe_late(PROBE_SECONDS):
            raise engine.dialect.loaded_dbapi.OperationalError("the database can't be reached")

    def connect(_dialect: Dialect, _entry: ConnectionPoolEntry, _arguments: list[str], _parameters: Parameters) -> None:
        refuse()

    def check_out(_connection: DBAPIConnection, _entry: ConnectionPoolEntry, _proxy: object) -> None:
        refuse()

    if isinstance(engine.pool, RetryingPool):
        engine.pool.refuse = refuse
    event.listen(engine, "do_connect", connect)
    event.listen(engine, "checkout", check_out)


BUSY_MILLISECONDS = 30_000
"""Milliseconds that a transaction waits for SQLite's locks by default."""

BETWEEN_TRIES_SECONDS = 0.005
CONNECT_SECONDS = 5
SESSION_NAME = "relevance command"
"""The name of a session that no other name is given for: those of commands."""

POOL_SIZE = 10
MAX_OVERFLOW = {"sqlite": 30, "postgresql": 10}
"""The connections above POOL_SIZE, which are closed after use."""

POOL = {"poolclass": RetryingPool, "pool_size": POOL_SIZE, "pool_timeout": RETRY_SECONDS}

IDLE_MILLISECONDS = 10_000
"""Milliseconds after which PostgreSQL ends an idle transaction, so that a frozen process does not keep its locks."""

STAYING_ALIVE = {"keepalives_idle": 20, "keepalives_interval": 5, "keepalives_count": 3}
"""TCP keepalive: a server that vanished is detected after 35 seconds, also by a connection that only listens."""


def make_engine(
    url: URL | str,
    *,
    password_file: Path | None = None,
    reachability: Reachability | None = None,
    busy_milliseconds: int | None = None,
    creates: bool = False,
    session_name: str = SESSION_NAME,
) -> Engine:
    """Return an engine for `sqlite:///file` or `postgresql+psycopg://...` (or `postgresql://...`).

    Sessions of PostgreSQL have the `session_name` as their `application_name`, unless the URL has another.

    It connects at first use, to PostgreSQL with the password in a file, where one is given. SQLite's file is created
    only where `creates`. A transaction waits `busy_milliseconds` for SQLite's locks, BUSY_MILLISECONDS where that is
    None. While `reachability` records an outage, connections and transactions are refused at once, those that wait too.

    On SQLite a transaction begins with the first write, as IMMEDIATE; reads before it take no lock, and each sees the
    newest commit, as under PostgreSQL's READ COMMITTED. So the same rule holds for both databases: a value that a write
    depends on is read after `lock_for_writing`, under row locks, or in the WHERE clause of the write.
    """
    url = make_url(url)
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, max_overflow=MAX_OVERFLOW["sqlite"], **POOL)
        busy = BUSY_MILLISECONDS if busy_milliseconds is None else busy_milliseconds
        event.listen(engine, "connect", partial(_set_up_sqlite, busy))
        if reachability is not None:
            refuse_during_outage(engine, reachability)
        if (path := file_of(url)) is not None:
            _watch_file(engine, path, creates=creates)
        return engine
    if url.drivername in {"postgres", "postgresql"}:
        url = url.set(drivername="postgresql+psycopg")
    if "application_name" not in url.query:
        url = url.update_query_dict({"application_name": session_name})
    engine = create_engine(
        url,
        max_overflow=MAX_OVERFLOW["postgresql"],
        isolation_level="READ COMMITTED",
        connect_args={"connect_timeout": CONNECT_SECONDS, **STAYING_ALIVE},
        **POOL,
    )
    event.listen(engine, "connect", _set_up_postgresql)
    event.listen(engine, "checkout", _replace_closed)
    passwords = None if password_file is None else PasswordFile(password_file)
    if reachability is not None:
        refuse_during_outage(engine, reachability)
        _watch_connections(engine, reachability, passwords)
    elif passwords is not None:
        event.listen(engine, "do_connect", passwords)
    return engine


def max_connections(engine: Engine) -> int:
    """Return the maximum number of concurrent connections of an engine."""
    return POOL_SIZE + MAX_OVERFLOW[engine.dialect.name]


def file_of(url: URL) -> str | None:
    """Return the path of SQLite's file; None for a database in memory, and for a SQLite URI."""
    name = url.database
    return None if not name or name == ":memory:" or name.startswith("file:") else name


def _set_up_postgresql(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    cursor.execute(f"SET idle_in_transaction_session_timeout = {IDLE_MILLISECONDS}")
    cursor.close()
    connection.commit()


def _replace_closed(connection: DBAPIConnection, _entry: ConnectionPoolEntry, _proxy: object) -> None:
    """Let the pool connect anew where the server has closed this connection and others of that time.

    What the server sends over an unused connection is the reason for which it closes it. `pool_pre_ping` would send a
    query at each use, which is a transaction.
    """
    driver: object = connection
    if not isinstance(driver, psycopg.Connection):
        raise TypeError(f"expected a connection to PostgreSQL, got {type(driver).__name__}")
    if driver.closed or _is_readable(driver.fileno()):
        raise InvalidatePoolError


def _is_readable(descriptor: int) -> bool:
    with DefaultSelector() as selector:
        selector.register(descriptor, EVENT_READ)
        return bool(selector.select(0))


def _set_up_sqlite(busy_milliseconds: int, connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    # The driver then executes BEGIN IMMEDIATE before the first INSERT, UPDATE or DELETE: no deferred transaction is
    # upgraded, which SQLite refuses (SQLITE_BUSY_SNAPSHOT) without waiting after a concurrent commit.
    connection.isolation_level = "IMMEDIATE"
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {busy_milliseconds}")
    # Before the first table. Of a file that has tables it would write to the file at each connection.
    cursor.execute("PRAGMA page_count")
    if cursor.fetchone() == (0,):
        cursor.execute("PRAGMA auto_vacuum = INCREMENTAL")
    _write_ahead(cursor, busy_milliseconds)
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _write_ahead(cursor: DBAPICursor, busy_milliseconds: int) -> None:
    # SQLite refuses one of two connections that switch a new file to WAL at once, whatever busy_timeout is set to.
    # Once the file is in WAL mode, the statement takes no lock.
    deadline = time.monotonic() + busy_milliseconds / 1000
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(BETWEEN_TRIES_SECONDS)
        else:
            return


def lock_for_writing(connection: Connection) -> None:
    """Take SQLite's write lock now, not at the first write; does nothing on PostgreSQL, which has row locks."""
    if connection.dialect.name == "sqlite" and not _is_in_transaction(connection):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _is_in_transaction(connection: Connection) -> bool:
    raw = connection.connection.dbapi_connection
    return raw is not None and bool(raw.in_transaction)
