"""Notifications of changes of jobs and models, sent with the transaction that writes them."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

import psycopg
from psycopg import sql
from sqlalchemy import Connection, Engine, func, select

from app.database.failures import translated
from app.errors import UnavailableError

JOBS, MODELS, QUEUES = "relevance_jobs", "relevance_models", "relevance_queues"
"""PostgreSQL's channels of notifications, which belong to one database; the payload is the id of a job, a model or a
queue."""

LISTEN_SECONDS = 0.5
"""The most seconds for which `receive` blocks on PostgreSQL; a notification wakes it at once."""

LOOK_SECONDS = 0.2
"""Seconds between two polls of SQLite, by default."""


def notify(connection: Connection, *concerned: UUID, channel: str = JOBS) -> None:
    """Notify listeners, once the transaction commits, that jobs changed; models on the channel MODELS, and that queues
    have a new entry on the channel QUEUES.

    Does nothing on SQLite, whose listeners poll.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(*(func.pg_notify(channel, str(one)) for one in concerned)))


class Listener(Protocol):
    """A connection on which one thread receives notifications of changed jobs or models from all processes."""

    def receive(self) -> frozenset[UUID] | None:
        """Return the ids of changed objects, none after a timeout; None: any may have. Raises UnavailableError."""


class Notifier(Protocol):
    """A source of notifications about jobs or models."""

    def open(self) -> AbstractContextManager[Listener]:
        """Listen to everything that commits from now on, also between two calls. Raises UnavailableError."""


@dataclass(frozen=True)
class SqlNotifier:
    """PostgreSQL's notifications, or polling of SQLite; each listener has a connection of its own, not of the pool."""

    engine: Engine
    channel: str = JOBS
    look_seconds: float = LOOK_SECONDS

    @contextmanager
    def open(self) -> Iterator[Listener]:
        """Listen to everything that commits from now on; raises UnavailableError."""
        with translated():
            connection = self.engine.connect()
            connection.detach()
        with connection:
            driver: object = connection.connection.dbapi_connection
            if isinstance(driver, psycopg.Connection):
                yield _PostgresListener(driver, self.channel)
            elif isinstance(driver, sqlite3.Connection):
                yield _SqliteListener(driver, self.look_seconds)
            else:
                raise TypeError(f"expected a connection to PostgreSQL or SQLite, got {type(driver).__name__}")


class _PostgresListener:
    """LISTEN: the server sends the id of each job or model that changed."""

    def __init__(self, driver: psycopg.Connection, channel: str) -> None:
        self._driver = driver
        with _uses_psycopg():
            driver.autocommit = True
            driver.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))

    def receive(self) -> frozenset[UUID] | None:
        with _uses_psycopg():
            received = [
                _concerned(given.payload) for given in self._driver.notifies(timeout=LISTEN_SECONDS, stop_after=1)
            ]
        known = frozenset(one for one in received if one is not None)
        return known if len(known) == len(set(received)) else None


class _SqliteListener:
    """Polling: `PRAGMA data_version` shows that another connection has committed, but not what; it reads no page."""

    def __init__(self, driver: sqlite3.Connection, look_seconds: float) -> None:
        self._driver = driver
        self._look_seconds = look_seconds
        self._seen = self._version()

    def receive(self) -> frozenset[UUID] | None:
        time.sleep(self._look_seconds)
        before, self._seen = self._seen, self._version()
        return frozenset() if self._seen == before else None

    def _version(self) -> int:
        try:
            version: int = self._driver.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.Error as error:
            raise UnavailableError("The database's file can't be polled for changes.") from error
        return version


@contextmanager
def _uses_psycopg() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise UnavailableError("The database can't be listened to for notifications.") from error


def _concerned(payload: str) -> UUID | None:
    """Return the job or model that a notification names; None for a payload that is no id."""
    try:
        return UUID(payload)
    except ValueError:
        return None
