"""The space of deleted rows: returned to the file system by SQLite, kept for new rows by PostgreSQL."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Engine

from app.database.failures import translated

INCREMENTAL = 2
"""The value of `PRAGMA auto_vacuum` with which pages are returned by `PRAGMA incremental_vacuum`."""

PAGES_AT_ONCE = 2_000
"""Pages that one transaction returns: 8 MB, for which writers wait some hundredths of a second."""

MIN_KEPT_PAGES, KEPT_SHARE = 256, 0.05
"""The unused pages that stay for new rows: 1 MB at least, and this share of all."""


@dataclass(frozen=True)
class FileSize:
    """The bytes of a SQLite database, and those of them that no row uses."""

    bytes: int
    unused_bytes: int


def file_size(engine: Engine) -> FileSize | None:
    """Return the size of a SQLite database, None for PostgreSQL; raises UnavailableError."""
    if engine.dialect.name != "sqlite":
        return None
    with translated(), engine.connect() as connection:
        pages, unused, size = (
            int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())
            for name in ("page_count", "freelist_count", "page_size")
        )
    return FileSize(pages * size, unused * size)


def return_unused(engine: Engine) -> int:
    """Return unused pages of a SQLite database to the file system, in short transactions; return their number.

    Some stay for new rows. A file without incremental vacuum keeps all of them until `vacuum` is called once;
    PostgreSQL reuses its space by autovacuum. Raises UnavailableError.
    """
    if engine.dialect.name != "sqlite":
        return 0
    returned = 0
    with translated(), _own_connection(engine) as connection:
        if _number(connection, "auto_vacuum") != INCREMENTAL:
            return 0
        while (surplus := _surplus(connection)) > 0:
            before = _number(connection, "freelist_count")
            # All rows are read: each step of the statement returns one page.
            connection.execute(f"PRAGMA incremental_vacuum({min(surplus, PAGES_AT_ONCE)})").fetchall()
            now_returned = before - _number(connection, "freelist_count")
            if now_returned <= 0:  # others write as fast
                break
            returned += now_returned
        if returned:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # the file itself becomes shorter
    return returned


def vacuum(engine: Engine) -> None:
    """Rewrite a SQLite database without unused pages, so that `return_unused` works from then on, or VACUUM ANALYZE
    PostgreSQL's tables. Writers of SQLite wait meanwhile. Raises UnavailableError.
    """
    if engine.dialect.name == "sqlite":
        with translated(), _own_connection(engine) as connection:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return
    with translated(), engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM (ANALYZE)")


@contextmanager
def _own_connection(engine: Engine) -> Iterator[sqlite3.Connection]:
    """Open a connection that is not the pool's, and begins no transactions by itself."""
    with engine.connect() as connection:
        connection.detach()
        driver: object = connection.connection.dbapi_connection
        if not isinstance(driver, sqlite3.Connection):
            raise TypeError(f"expected a connection to SQLite, got {type(driver).__name__}")
        driver.isolation_level = None
        yield driver


def _surplus(connection: sqlite3.Connection) -> int:
    pages, unused = _number(connection, "page_count"), _number(connection, "freelist_count")
    return unused - int(max(MIN_KEPT_PAGES, KEPT_SHARE * (pages - unused)))


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
