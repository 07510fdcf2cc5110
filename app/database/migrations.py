"""Migrations to the tables that this version of the service expects.

Alembic takes 8 MB of memory, so processes that only check the revision import `revision` instead.
"""

import time
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from alembic import command
from alembic.config import Config
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection, Engine, text

from app.database.base import Base
from app.database.engine import lock_for_writing
from app.database.failures import is_lock_timeout, translated
from app.database.revision import (
    COMPATIBLE,
    EXPECTED,
    MigrationPlan,
    MigrationStep,
    compatible_revisions,
    revision_of,
    running_processes,
)
from app.errors import UnavailableError

Kind = Literal["schema", "table", "column", "index", "unique_constraint", "foreign_key_constraint", "check_constraint"]
Parent = Literal["schema_name", "table_name", "schema_qualified_table_name"]

ADVISORY_LOCK = 0x52_4C_56_4D
"""The key of PostgreSQL's advisory lock that a migration holds; an arbitrary constant."""

LOCK_MILLISECONDS = 500
"""Milliseconds that a migration waits for the lock of a table of PostgreSQL, for which requests queue behind it; less
than `deadlock_timeout` (1 s), so that of two transactions that wait for each other no request is ended."""

PAUSE_SECONDS = 1.0
"""Seconds between two attempts of a migration, in which the requests that queued are processed."""

MAX_WAIT_SECONDS = 120.0
"""The maximum time until the last attempt of a migration that waits for locks."""


def plan_of_empty() -> MigrationPlan:
    """Return what `migrate` would do with an empty database."""
    return MigrationPlan(None, EXPECTED, _pending(None), ())


def plan(engine: Engine, *, silence_seconds: float) -> MigrationPlan:
    """Return what `migrate` would do; a process without a heartbeat for so many seconds is not running.

    Raises UnavailableError, also where the tables are of a newer release that this one can't use.
    """
    with translated(), engine.connect() as connection:
        before = revision_of(connection)
        if _is_newer(connection):
            return MigrationPlan(before, before, (), ())
        pending = _pending(before)
        serving = compatible_with(EXPECTED) | {EXPECTED}
        found = running_processes(connection, within=silence_seconds) if pending and before is not None else ()
        incompatible = tuple(one for one in found if one.revision not in serving)
    return MigrationPlan(before, EXPECTED, pending, incompatible)


def _pending(before: str | None) -> tuple[MigrationStep, ...]:
    """Return the migrations after a revision, first to last."""
    found: list[MigrationStep] = []
    for script in _scripts_to(EXPECTED):
        if script.revision == before:
            break
        text = " ".join(script.doc.split())
        found.append(MigrationStep(script.revision, text, _oldest_compatible(script)))
    return tuple(reversed(found))


def migrate(engine: Engine, revision: str = "head") -> None:
    """Run every missing migration in one transaction; of two concurrent calls the second finds nothing to do.

    Migrates up to a revision, by default the last. Tables of a newer release stay as they are. Raises UnavailableError
    where this release can't use those, where the database can't be reached, and where its locks are not free for long.
    """
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while True:
        try:
            with translated(), exclusive(engine) as connection:
                if not _is_newer(connection):
                    command.upgrade(_config(connection), revision)
                    _record_compatible(connection)
            return
        except UnavailableError as error:
            if not is_lock_timeout(error) or time.monotonic() > deadline:
                raise
        time.sleep(PAUSE_SECONDS)


def downgrade(engine: Engine, revision: str = "base") -> None:
    """Downgrade to a revision, by default to an empty database; data of later revisions is lost."""
    with translated(), exclusive(engine) as connection:
        command.downgrade(_config(connection), revision)
        _record_compatible(connection)


def compatible_with(revision: str | None) -> frozenset[str]:
    """Return the earlier revisions whose releases can serve on the tables of a revision.

    A migration declares them by `oldest_compatible`: None is an expanding one, on which all releases serve that could
    before; of a contract step it is the oldest that still can. Without it, none can.
    """
    found: set[str] = set()
    oldest: set[str] = set()
    for script in _scripts_to(revision):
        found.add(script.revision)
        declared = _oldest_compatible(script)
        if declared is not None:
            oldest.add(declared)
        if script.revision in oldest:
            break
    return frozenset(found - {revision})


def _scripts_to(revision: str | None) -> Iterator[Script]:
    """Yield the migrations up to a revision, the last first."""
    return ScriptDirectory.from_config(_config()).iterate_revisions(revision, "base") if revision else iter(())


def _oldest_compatible(script: Script) -> str | None:
    declared: str | None = getattr(script.module, "oldest_compatible", script.revision)
    return declared


def _is_newer(connection: Connection) -> bool:
    """Return whether the tables are of a newer release; raises UnavailableError where this one can't use them."""
    revision = revision_of(connection)
    if revision is None or has_migration(revision):
        return False
    if EXPECTED not in compatible_revisions(connection):
        raise UnavailableError(f"The database is of a newer release, at {revision}, and this one can't use its tables.")
    return True


def _record_compatible(connection: Connection) -> None:
    """Store the revisions whose releases can serve on the tables."""
    compatible = compatible_with(revision_of(connection))
    connection.execute(text(f"CREATE TABLE IF NOT EXISTS {COMPATIBLE} (revision TEXT PRIMARY KEY)"))
    if compatible == compatible_revisions(connection):
        return
    connection.execute(text(f"DELETE FROM {COMPATIBLE}"))
    rows = [{"revision": one} for one in sorted(compatible)]
    if rows:
        connection.execute(text(f"INSERT INTO {COMPATIBLE} (revision) VALUES (:revision)"), rows)


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
            connection.execute(text(f"SET LOCAL lock_timeout = {LOCK_MILLISECONDS}"))
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
