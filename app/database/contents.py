"""The contents of a database, for maintenance: its revision, its tables and their numbers of rows."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection, Engine, text

from app.database.failures import translated
from app.database.revision import TABLE

Dialect: TypeAlias = Literal["sqlite", "postgresql"]

OF_SQLITE = "SELECT NULL, name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
OF_POSTGRESQL = """
    SELECT nullif(schemaname, current_schema()), tablename FROM pg_catalog.pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
"""


@dataclass(frozen=True)
class Contents:
    """The contents of a database: `rows` by table, the queue's included, as "schema.table" outside the own schema.

    `version` is that of SQLite or of the server; `revision` is None where there is no migration.
    """

    database: Dialect
    version: str
    revision: str | None
    rows: Mapping[str, int]


def contents_of(engine: Engine) -> Contents:
    """Return the contents of an engine's database; raises UnavailableError."""
    with translated(), engine.connect() as connection:
        return contents(connection)


def contents(connection: Connection) -> Contents:
    """Return the contents of a database, as the connection's transaction sees them."""
    quote = connection.dialect.identifier_preparer.quote
    is_file = connection.dialect.name == "sqlite"
    found = connection.exec_driver_sql(OF_SQLITE if is_file else OF_POSTGRESQL).all()
    tables = sorted(tuple(str(part) for part in row if part is not None) for row in found)
    rows: dict[str, int] = {}
    for table in tables:
        query = text(f"SELECT count(*) FROM {'.'.join(map(quote, table))}")
        rows[".".join(table)] = connection.execute(query).scalar_one()
    revision: str | None = None
    if TABLE in rows:
        revision = connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalar_one_or_none()
    if is_file:
        return Contents("sqlite", sqlite3.sqlite_version, revision, rows)
    version: str = connection.execute(text("SHOW server_version")).scalar_one()
    return Contents("postgresql", version, revision, rows)
