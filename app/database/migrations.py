"""Migrations to the tables that this version of the service expects.

Alembic takes 8 MB of memory, so processes that only check the revision import `revision` instead.
"""

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from app.database.base import Base
from app.database.engine import lock_for_writing
from app.database.failures import translated

Kind = Literal["schema", "table", "column", "index", "unique_constraint", "foreign_key_constraint", "check_constraint"]
Parent = Literal["schema_name", "table_name", "schema_qualified_table_name"]

ADVISORY_LOCK = 0x52_4C_56_4D
"""The key of PostgreSQL's advisory lock that a migration holds; an arbitrary constant."""


def migrate(engine: Engine, revision: str = "head") -> None:
    """Run every missing migration in one transaction; of two concurrent calls the second finds nothing to do.

    Migrates up to a revision, by default the last. Raises UnavailableError where the database can't be reached.
    """
    with translated(), exclusive(engine) as connection:
        command.upgrade(_config(connection), revision)


def downgrade(engine: Engine, revision: str = "base") -> None:
    """Downgrade to a revision, by default to an empty database; data of later revisions is lost."""
    with translated(), exclusive(engine) as connection:
        command.downgrade(_config(connection), revision)


def has_migration(revision: str) -> bool:
    """Return whether this release has a migration: a database at any other is of a newer release."""
    return revision in {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}


def is_own(name: str | None, kind: Kind, _parents: MutableMapping[Parent, str | None]) -> bool:
    """Return whether Alembic compares an object; the queue has tables of its own in the same database."""
    return kind != "table" or name in Base.metadata.tables


@contextmanager
def exclusive(engine: Engine) -> Iterator[Connection]:
    """Open a transaction that excludes other migrations; SQLite's foreign keys are off while tables are rebuilt."""
    with engine.connect() as connection:
        sqlite = connection.dialect.name == "sqlite"
        if sqlite:
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
            lock_for_writing(connection)
        else:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})
        try:
            yield connection
            if sqlite and (broken := connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()):
                raise RuntimeError(f"the migration leaves rows with dangling foreign keys: {broken[:5]}")
            connection.commit()
        finally:
            connection.rollback()
            if sqlite:
                connection.exec_driver_sql("PRAGMA foreign_keys = ON")


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_scripts()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _scripts() -> Path:
    """Return the folder of the migrations: in the package of a wheel, beside it in a checkout."""
    places = [Path(__file__).parents[up] / "migrations" for up in (1, 2)]
    for folder in places:
        if (folder / "env.py").is_file():
            return folder
    raise FileNotFoundError(f"expected the migrations in {places[0]} or in {places[1]}")
