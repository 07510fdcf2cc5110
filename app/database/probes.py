"""Probes: whether a database answers, found within a bounded time and without the pool."""

import sqlite3
from contextlib import closing, suppress
from typing import Protocol

import psycopg
from psycopg.abc import PQGen
from psycopg.rows import TupleRow
from sqlalchemy import Engine

from app.database.engine import file_of
from app.database.file_connections import uri_of
from app.database.watched_connections import WAKE_SECONDS, Parameters, Result, connection_string
from app.errors import UnavailableError

PROBE_SECONDS = 2
"""Within which a database answers the shortest statement, or is taken to be away; libpq knows no shorter time."""


class Probe(Protocol):
    """A way to find out whether a database answers."""

    def check(self) -> None:
        """Raise UnavailableError unless the database answers within about PROBE_SECONDS."""

    def close(self) -> None:
        """Release what the probe holds."""


def probe_of(engine: Engine) -> Probe:
    """Return the probe for an engine's database."""
    return FileProbe(engine) if engine.dialect.name == "sqlite" else ServerProbe(engine)


class ServerProbe:
    """A probe of PostgreSQL over a connection of its own.

    The connection is kept: a server that has no room for more connections is not away.
    """

    def __init__(self, engine: Engine) -> None:
        _, parameters = engine.dialect.create_connect_args(engine.url)
        self._parameters: Parameters = dict(parameters)
        self._connection: _BoundedConnection | None = None

    def check(self) -> None:
        """Raise UnavailableError unless the server answers."""
        if self._connection is not None:
            with suppress(psycopg.Error):  # it may have been ended alone
                self._connection.execute("SELECT 1")
                return
            self.close()
        try:
            self._connection = _BoundedConnection.connect(
                connection_string(self._parameters, connect_timeout=PROBE_SECONDS), autocommit=True
            )
            self._connection.execute("SELECT 1")
        except psycopg.Error as error:
            self.close()
            raise UnavailableError(f"The database does not answer: {error}") from error

    def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


class _BoundedConnection(psycopg.Connection[TupleRow]):
    """A connection on which nothing takes longer than PROBE_SECONDS."""

    def wait(self, gen: PQGen[Result], interval: float = WAKE_SECONDS, timeout: float | None = None) -> Result:
        return super().wait(gen, interval, PROBE_SECONDS if timeout is None else timeout)


class FileProbe:
    """A probe of SQLite: the file is where it was, and can be read."""

    def __init__(self, engine: Engine) -> None:
        self._path = file_of(engine.url)

    def check(self) -> None:
        """Raise UnavailableError unless the file can be read."""
        if self._path is None:
            return
        try:
            with closing(sqlite3.connect(uri_of(self._path), uri=True, timeout=PROBE_SECONDS)) as connection:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error as error:
            raise UnavailableError(f"The database's file can't be read: {error}") from error

    def close(self) -> None:
        """Nothing is held."""
