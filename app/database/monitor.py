"""The monitor of a database, which detects an outage and its end by probes outside the pool."""

import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Protocol

import psycopg
from psycopg.abc import PQGen
from psycopg.rows import TupleRow
from sqlalchemy import Engine

from app.database.engine import (
    PROBE_SECONDS,
    WAKE_SECONDS,
    Parameters,
    PasswordFile,
    Reachability,
    Result,
    connection_string,
    file_of,
    uri_of,
)
from app.errors import OutOfReachError, StorageFullError, UnavailableError


class Probe(Protocol):
    """A check of whether a database responds."""

    def check(self) -> None:
        """Raise UnavailableError unless the database responds within about PROBE_SECONDS."""

    def close(self) -> None:
        """Release the resources of the probe."""


def probe_of(engine: Engine, passwords: PasswordFile | None = None) -> Probe:
    """Return the probe for an engine's database."""
    return _FileProbe(engine) if engine.dialect.name == "sqlite" else _ServerProbe(engine, passwords)


class _ServerProbe:
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


class _FileProbe:
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


logger = logging.getLogger(__name__)

LATE_SECONDS = 1.0
"""Age of a transaction, in seconds, after which the database is probed."""

RETRY_SECONDS = 0.2
"""Seconds between two probes while the database is unreachable or a transaction is late."""

JOIN_SECONDS = 3.0
"""Seconds to wait for the thread to end; longer than a probe."""


class DatabaseMonitor:
    """Updates `reachability` from failed transactions and from probes.

    A thread, started by the first transaction, probes the database after a failed transaction and while one is late.
    During an outage it probes repeatedly and transactions are refused at once. The engine, made with the same
    `reachability`, ends the waits for a connection and for a response of the server.
    """

    def __init__(self, engine: Engine, reachability: Reachability, password_file: Path | None = None) -> None:
        passwords = None if password_file is None else PasswordFile(password_file)
        self.reachability = reachability
        self._probe = probe_of(engine, passwords)
        self._changed = reachability.changed
        self._units: dict[object, float] = {}
        self._thread: Thread | None = None
        self._is_closed = False
        self._is_idle = False
        self._away_since: float | None = None

    @contextmanager
    def unit(self) -> Iterator[None]:
        """Watch a transaction while it is open; raises OutOfReachError during an outage."""
        self._begin()
        key = object()
        self._units[key] = time.monotonic()
        if self._is_idle:
            with self._changed:
                self._changed.notify_all()
        try:
            yield
        except StorageFullError:  # it has responded
            raise
        except UnavailableError:
            self.reachability.suspect()
            raise
        else:
            self.reachability.reached()
        finally:
            del self._units[key]

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(JOIN_SECONDS)

    def _begin(self) -> None:
        if self.reachability.is_probe_late(PROBE_SECONDS):
            self._note_away(UnavailableError(f"The database did not respond within {PROBE_SECONDS} s."))
        if self.reachability.is_away:
            raise OutOfReachError("The database can't be reached; try again later.")
        if self._thread is None:
            self._start()

    def _start(self) -> None:
        with self._changed:
            if self._thread is None and not self._is_closed:
                self._thread = Thread(target=self._run, name="database-monitor", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while not self._is_closed:
            self._check()
            self._wait_for_cause()
        self._probe.close()

    def _wait_for_cause(self) -> None:
        """Return when the database should be probed, or at shutdown."""
        if self.reachability.is_away:
            with self._changed:
                self._changed.wait_for(lambda: self._is_closed or not self.reachability.is_away, RETRY_SECONDS)
            return
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or not self.reachability.is_reachable, RETRY_SECONDS)
            while not self._has_cause():
                self._is_idle = True
                self._changed.wait_for(lambda: self._units or self._has_cause())
                self._is_idle = False  # units that begin from here on are polled below, without a notification each
                self._changed.wait_for(self._has_cause, LATE_SECONDS)

    def _has_cause(self) -> bool:
        latest = time.monotonic() - LATE_SECONDS
        is_late = any(began < latest for began in list(self._units.values()))
        return self._is_closed or not self.reachability.is_reachable or is_late

    def _check(self) -> None:
        began, suspicions = time.monotonic(), self.reachability.suspicions
        self.reachability.probe_began = began
        try:
            self._probe.check()
        except UnavailableError as error:
            if self.reachability.seconds_since_reached() > time.monotonic() - began:
                self._note_away(error)
        else:
            self.reachability.reached(suspicions)
        finally:
            self.reachability.probe_began = None
        if self.reachability.is_reachable and self._away_since is not None:
            logger.warning(
                "the database is reachable again", extra={"seconds": round(time.monotonic() - self._away_since, 1)}
            )
            self._away_since = None

    def _note_away(self, error: UnavailableError) -> None:
        with self._changed:
            self.reachability.lost()
            is_first, self._away_since = self._away_since is None, self._away_since or time.monotonic()
        if is_first:
            logger.warning("the database is unreachable", extra={"reason": error.detail})
