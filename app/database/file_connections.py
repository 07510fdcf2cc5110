"""Connections to a SQLite file, which are replaced once the file was moved or replaced."""

import os
import sqlite3
from pathlib import Path
from typing import TypeAlias

from sqlalchemy import Engine, event
from sqlalchemy.engine import Dialect
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

Identity: TypeAlias = tuple[int, int] | None
"""Device and inode; None if there is no file."""

OPENED = "opened"
"""The key, in the pool's record of a connection, of the identity of the opened file."""


def watch_file(engine: Engine, path: str, *, creates: bool) -> None:
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
