"""Probes of whether a database responds, with a timeout and outside the pool."""

import sqlite3
from contextlib import closing, suppress
from typing import Protocol

import psycopg
from psycopg.abc import PQGen
from psycopg.rows import TupleRow
from sqlalchemy import Engine

from app.database.engine import file_of
from app.database.file_connections import uri_of
from app.database.passwords import Parameters, PasswordFile
from app.database.reachability import PROBE_SECONDS
from app.database.watched_connections import WAKE_SECONDS, Result, connection_string
from app.errors import UnavailableError


class Probe(Protocol):
    """A check of whether a database responds."""

    def check(self) -> None:
        """Raise UnavailableError unless the database responds within about PROBE_SECONDS."""

    def close(self) -> None:
        """Release the resources of the probe."""


def probe_of(engine: Engine, passwords: PasswordFile | None = None) -> Probe:
    """Return the probe for an engine's database."""
    return FileProbe(engine) if engine.dialect.name == "sqlite" else ServerProbe(engine, passwords)


class ServerProbe:
    """A probe of PostgreSQL over a connection of its own.

    The connection is kept open: a server that refuses new connections because it has too many is reachable.
    """

    def __init__(self, engine: Engine, passwords: PasswordFile | None) -> None:
        _, parameters = engine.dialect.create_connect_args(engine.url)
        self._parameters: Parameters = dict(parameters)
        self._passwords = passwords
        self._connection: _BoundedConnection | None = None

    def check(self) -> None:
        """Raise UnavailableError unless the server responds."""
        if self._connection is not None:
            with suppress(psycopg.Error):  # this connection alone may have been closed
                self._connection.execute("SELECT 1")
                return
            self.close()
        try:
            own, passwords = self._parameters, self._passwords
            self._connection = _connected(own) if passwords is None else passwords.connect(own, _connected)
            self._connection.execute("SELECT 1")
        except psycopg.Error as error:
            self.close()
            raise UnavailableError(f"The database does not respond: {error}") from error

    def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


class _BoundedConnection(psycopg.Connection[TupleRow]):
    """A connection on which no operation takes longer than PROBE_SECONDS."""

    def wait(self, gen: PQGen[Result], interval: float = WAKE_SECONDS, timeout: float | None = None) -> Result:
        return super().wait(gen, interval, PROBE_SECONDS if timeout is None else timeout)


def _connected(parameters: Parameters) -> _BoundedConnection:
    return _BoundedConnection.connect(connection_string(parameters, connect_timeout=PROBE_SECONDS), autocommit=True)


class FileProbe:
    """A probe of SQLite: the file exists at its path and can be read."""

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
        """Do nothing: no resource is held."""
