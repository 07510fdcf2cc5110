"""Engines: SQLite and PostgreSQL, configured to behave alike."""

import sqlite3
import time
from functools import partial
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

import psycopg
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from app.database.file_connections import watch_file
from app.database.passwords import PasswordFile
from app.database.pool import RETRY_SECONDS, RetryingPool, refuse_during_outage
from app.database.reachability import Reachability
from app.database.watched_connections import watch_connections

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
            watch_file(engine, path, creates=creates)
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
        watch_connections(engine, reachability, passwords)
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
