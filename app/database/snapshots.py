"""Snapshots of a whole database in a file: written while others write to the database, and restored."""

import time
from pathlib import Path

from sqlalchemy import URL, Engine, NullPool, create_engine, text

from app.database.contents import Contents, contents, contents_of
from app.database.engine import file_of
from app.database.failures import translated
from app.database.postgresql_dumps import dump, other_clients
from app.database.sqlite_files import check_file, copy_file, unused_file
from app.errors import UnavailableError

CLOSING_SECONDS = 2.0
"""Seconds in which a server notices that connections were closed."""


def write_snapshot(engine: Engine, target: Path) -> Contents:
    """Write the database as it is at one moment into a file, and return its contents.

    The file is a SQLite database, or an archive of pg_dump. Raises NotInstalledError, UnavailableError.
    """
    if engine.dialect.name == "sqlite":
        copy_file(path_of(engine.url), target)
        check_file(target)
        return contents_of_file(target)
    with translated(), engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        dump(connection, target)
        return contents(connection)


def path_of(url: URL) -> Path:
    """Return the path of SQLite's file; raises UnavailableError for a database in memory."""
    path = file_of(url)
    if path is None:
        raise UnavailableError("Expected a database in a file, got one in memory.")
    return Path(path)


def url_of_file(path: Path) -> URL:
    """Return the URL of a SQLite file."""
    return URL.create("sqlite", database=str(path))


def contents_of_file(path: Path) -> Contents:
    """Return the contents of a SQLite file, which stays one file; raises UnavailableError."""
    engine = create_engine(url_of_file(path), poolclass=NullPool)
    return contents_of(engine)


def check_unused(engine: Engine) -> None:
    """Raise UnavailableError where another process has the database open."""
    if engine.dialect.name == "sqlite":
        engine.dispose()
        with unused_file(path_of(engine.url)):
            pass
        return
    give_up = time.monotonic() + CLOSING_SECONDS
    while others := other_clients(engine):
        if time.monotonic() > give_up:
            names = ", ".join(sorted({*others}))
            raise UnavailableError(f"Other connections use the database ({names}): stop the service first.")
        time.sleep(CLOSING_SECONDS / 20)
