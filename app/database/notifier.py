"""That something happened to a job or a model: said with the transaction that writes it, heard by whoever listens."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

import psycopg
from psycopg import sql
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from app.database.failures import translated
from app.errors import UnavailableError

JOBS, MODELS = "relevance_jobs", "relevance_models"
"""The channels of PostgreSQL's notifications, each with a job's or a model's id: channels of this database alone."""

LISTEN_SECONDS = 0.5
"""Most seconds for which `receive` keeps its caller on PostgreSQL, which wakes it as soon as there is something."""

LOOK_SECONDS = 0.2
"""After how many seconds SQLite is asked again whether anybody wrote."""


def notify(session: Session, concerned: UUID, channel: str = JOBS) -> None:
    """Let it be heard, once the transaction commits, that something happened to a job, or to a model over MODELS;
    SQLite's listeners look."""
    if session.connection().dialect.name == "postgresql":
        session.execute(select(func.pg_notify(channel, str(concerned))))


class Listener(Protocol):
    """A connection over which one thread hears that something happened to jobs, or models, whoever wrote it."""

    def receive(self) -> frozenset[UUID] | None:
        """Which are concerned, none after a moment of silence; None: it may be any. Raises UnavailableError."""


class Notifier(Protocol):
    """Where to hear of what happens to jobs, or to models."""

    def open(self) -> AbstractContextManager[Listener]:
        """Hear of everything that is committed from now on, also between two calls. Raises UnavailableError."""


@dataclass(frozen=True)
class SqlNotifier:
    """Notifications of PostgreSQL, or polling of SQLite; each listener has a connection of its own, beside the pool."""

    engine: Engine
    channel: str = JOBS

    @contextmanager
    def open(self) -> Iterator[Listener]:
        """Hear of everything that is committed from now on; raises UnavailableError."""
        with translated():
            connection = self.engine.connect()
            connection.detach()
        with connection:
            driver: object = connection.connection.dbapi_connection
            if isinstance(driver, psycopg.Connection):
                yield _PostgresListener(driver, self.channel)
            elif isinstance(driver, sqlite3.Connection):
                yield _SqliteListener(driver)
            else:
                raise TypeError(f"expected a connection to PostgreSQL or SQLite, got {type(driver).__name__}")


class _PostgresListener:
    """LISTEN: the server sends the id of each job, or model, that something happened to."""

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
    """SQLite tells a connection whether any other has committed, and not what: one read of a number in memory."""

    def __init__(self, driver: sqlite3.Connection) -> None:
        self._driver = driver
        self._seen = self._version()

    def receive(self) -> frozenset[UUID] | None:
        time.sleep(LOOK_SECONDS)
        before, self._seen = self._seen, self._version()
        return frozenset() if self._seen == before else None

    def _version(self) -> int:
        try:
            version: int = self._driver.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.Error as error:
            raise UnavailableError("The database can't be asked whether anybody wrote.") from error
        return version


@contextmanager
def _uses_psycopg() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise UnavailableError("The database can't be listened to.") from error


def _concerned(payload: str) -> UUID | None:
    """The job or model that a notification names; None where somebody else has sent it."""
    try:
        return UUID(payload)
    except ValueError:
        return None
