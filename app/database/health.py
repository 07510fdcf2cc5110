"""The health of a database: its clock, and whether it accepts writes."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine, select, text
from sqlalchemy.exc import DBAPIError

from app.database.column_types import DatabaseNow
from app.database.failures import translated
from app.database.transaction import Clock, now

LOW_BYTES, EXHAUSTED_BYTES = 2**30, 100 * 2**20
"""The free space of a disk below which there is a warning, and below which trainings are not accepted any more."""


def free_bytes(folder: Path) -> int:
    """Return the free space of the disk of a folder; raises OSError."""
    return shutil.disk_usage(folder).free


def has_space(folder: Path) -> bool:
    """Return whether the disk of a folder has space for what trainings write; a folder that can't be read may have."""
    try:
        return free_bytes(folder) >= EXHAUSTED_BYTES
    except OSError:
        return True


@dataclass(frozen=True)
class DatabaseHealth:
    """`ahead_seconds` is how far this host's clock is ahead; `write_error` is None where writes are accepted."""

    ahead_seconds: float
    write_error: str | None


def examine(engine: Engine, clock: Clock = now) -> DatabaseHealth:
    """Return the health of a migrated database, and change nothing; raises UnavailableError."""
    with translated(), engine.connect() as connection:
        before = clock()
        there = connection.execute(select(DatabaseNow())).scalar_one()
        # The database read its clock between the two: within them, the clocks agree.
        early, late = (there - before).total_seconds(), (there - clock()).total_seconds()
        ahead = max(-early, 0.0) - max(late, 0.0)
        try:
            connection.execute(text("UPDATE workers SET left_at = left_at WHERE 1 = 0"))
        except DBAPIError as error:
            return DatabaseHealth(ahead, str(error.orig).strip())
        connection.rollback()
    return DatabaseHealth(ahead, None)
