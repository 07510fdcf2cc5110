"""Connections to a SQLite file: they never make the file, and end once it was moved or another was put in its place."""

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
"""Device and inode; None where there is no file."""

OPENED = "opened"
"""The identity of the file that a connection has opened, in the record that the pool keeps of it."""


def watch_file(engine: Engine, path: str, *, creates: bool) -> None:
    """Have an engine's connections open the file at `path`, and make it only where `creates`.

    SQLite opens whatever is at a path, makes an empty file where there is none, and goes on with the file that it
    opened when that is moved. So each connection is compared with what is at the path whenever it leaves the pool, and
    all are replaced where that is another file, or none.
    """
    uri = uri_of(path, creates=creates)

    def connect(
        _dialect: Dialect, entry: ConnectionPoolEntry, _arguments: list[str], parameters: dict[str, bool]
    ) -> sqlite3.Connection:
        entry.info[OPENED] = _identity(path)  # before it is opened: a file that is exchanged meanwhile is noticed
        return sqlite3.connect(uri, uri=True, check_same_thread=parameters["check_same_thread"])

    def check_out(_connection: DBAPIConnection, entry: ConnectionPoolEntry, _proxy: object) -> None:
        if entry.info[OPENED] != _identity(path):
            raise InvalidatePoolError("the file was moved, or another is in its place")

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "checkout", check_out)


def uri_of(path: str, *, creates: bool = False) -> str:
    """By which SQLite opens the file at a path, and makes it only where `creates`."""
    return f"{Path(path).absolute().as_uri()}?mode={'rwc' if creates else 'rw'}"


def _identity(path: str) -> Identity:
    try:
        found = os.stat(path)  # noqa: PTH116  # a third of the time of Path.stat, before each transaction
    except OSError:
        return None
    return found.st_dev, found.st_ino
