"""The revision of the tables: that of the database, the expected one, and those of the releases that may serve."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Engine, column, inspect, select, table, text, true

from app.database.base import SecondsSince
from app.database.failures import translated

API, WORKER = "API process", "worker"


@dataclass(frozen=True)
class RunningProcess:
    """A process with a recent heartbeat; `revision` is that of the tables which it expects."""

    kind: str
    name: str
    release: str
    revision: str

    def __str__(self) -> str:
        """Return kind, name and release."""
        return f"{self.kind} {self.name} of release {self.release}"


def running_processes(connection: Connection, *, within: float) -> tuple[RunningProcess, ...]:
    """Return the processes with a heartbeat within so many seconds that have not left."""
    has_not_left = column("left_at").is_(None)
    return (
        *_found(connection, WORKER, "workers", "executor", within, has_not_left),
        *_found(connection, API, "api_processes", "process", within, true()),
    )


def _found(
    connection: Connection, kind: str, name: str, key: str, within: float, condition: ColumnElement[bool]
) -> Iterator[RunningProcess]:
    is_recent = SecondsSince(column("heartbeat_at")) <= within
    selected: list[ColumnElement[str]] = [column(key), column("release"), column("revision")]
    query = select(*selected).select_from(table(name)).where(is_recent, condition).order_by(column(key))
    for row in connection.execute(query).mappings():
        yield RunningProcess(kind, row[key], row["release"], row["revision"])


EXPECTED = "0001"
"""The last of the `migrations`; changed with each new migration."""

TABLE = "alembic_version"

COMPATIBLE = "compatible_revisions"
"""The table of the earlier revisions whose releases can serve on the tables as they are now."""


@dataclass(frozen=True)
class MigrationStep:
    """A migration to be run; after a `contract` step no release before that of `oldest_compatible` can serve."""

    revision: str
    text: str
    oldest_compatible: str | None

    @property
    def is_contract(self) -> bool:
        """Return whether releases that could serve before it can't serve after it."""
        return self.oldest_compatible is not None


@dataclass(frozen=True)
class MigrationPlan:
    """The migrations from the revision `before` (None: an empty database) to `after`, first to last.

    `incompatible` are the running processes of releases that can't serve on the tables afterwards.
    """

    before: str | None
    after: str | None
    steps: tuple[MigrationStep, ...]
    incompatible: tuple[RunningProcess, ...]


def is_migrated(engine: Engine) -> bool:
    """Return whether this release can serve: the tables are at the expected revision, or at a later one that is
    compatible with it. Raises UnavailableError."""
    with translated(), engine.connect() as connection:
        return revision_of(connection) == EXPECTED or EXPECTED in compatible_revisions(connection)


def is_current(engine: Engine) -> bool:
    """Return whether the tables are at exactly the expected revision; raises UnavailableError."""
    with translated(), engine.connect() as connection:
        return revision_of(connection) == EXPECTED


def revision_of(connection: Connection) -> str | None:
    """Return the revision of a database's tables; None where it has none."""
    if not inspect(connection).has_table(TABLE):
        return None
    return connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalar_one_or_none()


def compatible_revisions(connection: Connection) -> frozenset[str]:
    """Return the earlier revisions whose releases can serve on a database's tables."""
    if not inspect(connection).has_table(COMPATIBLE):
        return frozenset()
    return frozenset(connection.execute(text(f"SELECT revision FROM {COMPATIBLE}")).scalars())
