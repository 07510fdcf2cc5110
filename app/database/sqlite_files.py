"""Whole SQLite files: a copy while others write, and the replacement of a file that nobody uses."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from app.database.file_connections import uri_of
from app.errors import UnavailableError


def copy_file(source: Path, target: Path) -> None:
    """Copy a database as it is at one moment; writers go on meanwhile. Raises UnavailableError.

    The copy has no write-ahead log: it is one file.
    """
    try:
        with (
            closing(sqlite3.connect(uri_of(str(source)), uri=True)) as connection,
            closing(sqlite3.connect(target)) as copy,
        ):
            connection.backup(copy)  # all pages in one read transaction
            make_single(copy)
            copy.execute("PRAGMA auto_vacuum = INCREMENTAL")
            copy.execute("VACUUM")  # without the pages that no row uses
    except sqlite3.Error as error:
        raise UnavailableError(f"The database {source} can't be copied: {error}.") from error


def check_file(path: Path) -> None:
    """Raise UnavailableError unless the pages of a database are consistent."""
    try:
        with closing(sqlite3.connect(uri_of(str(path)), uri=True)) as connection:
            found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
    except sqlite3.Error as error:
        found = [str(error)]
    if found != ["ok"]:
        raise UnavailableError(f"The database is damaged: {'; '.join(found)}.")


def make_single(connection: sqlite3.Connection) -> None:
    """End the use of a write-ahead log; raises sqlite3.OperationalError where another connection is open."""
    connection.execute("PRAGMA journal_mode = DELETE")


def make_single_file(path: Path) -> None:
    """Move what is in a database's write-ahead log into its file."""
    with closing(sqlite3.connect(uri_of(str(path)), uri=True)) as connection:
        make_single(connection)


@contextmanager
def unused_file(path: Path) -> Iterator[None]:
    """Lock the database at a path, whose content is then in that one file; raises UnavailableError if it is in use."""
    try:
        with closing(sqlite3.connect(uri_of(str(path)), uri=True, isolation_level=None)) as connection:
            make_single(connection)
            connection.execute("BEGIN EXCLUSIVE")
            yield
    except sqlite3.Error as error:
        remedy = "stop the service first" if _is_locked(error) else "move the file away where it is damaged"
        raise UnavailableError(f"{path} can't be used ({error}): {remedy}.") from error


def _is_locked(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", None) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def remove_logs(path: Path) -> None:
    """Remove the logs of a database whose file is gone: SQLite would apply them to the next file at its path."""
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
