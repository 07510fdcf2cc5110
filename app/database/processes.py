"""The running processes of the service, as their heartbeats in a database of any revision have them."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, column, inspect, literal_column, select, table

from app.database.column_types import SecondsSince

API, WORKER = "API process", "worker"


@dataclass(frozen=True)
class RunningProcess:
    """A process with a recent heartbeat; a release from before heartbeats had them has no `release` and `revision`.

    `revision` is that of the tables which the process expects.
    """

    kind: str
    name: str
    release: str | None
    revision: str | None

    def __str__(self) -> str:
        """Return kind, name and release."""
        release = "an earlier release" if self.release is None else f"release {self.release}"
        return f"{self.kind} {self.name} of {release}"


def running_processes(connection: Connection, *, within: float) -> tuple[RunningProcess, ...]:
    """Return the processes with a heartbeat within so many seconds that have not left."""
    return (
        *_found(connection, WORKER, "workers", "executor", within),
        *_found(connection, API, "api_processes", "process", within),
    )


def _found(connection: Connection, kind: str, name: str, key: str, within: float) -> Iterator[RunningProcess]:
    inspector = inspect(connection)
    if not inspector.has_table(name):
        return
    known = {one["name"] for one in inspector.get_columns(name)}
    selected: list[ColumnElement[str | None]] = [
        column(one) if one in known else literal_column("NULL").label(one) for one in (key, "release", "revision")
    ]
    query = select(*selected).select_from(table(name)).where(SecondsSince(column("heartbeat_at")) <= within)
    if "left_at" in known:
        query = query.where(column("left_at").is_(None))
    for row in connection.execute(query.order_by(column(key))).mappings():
        yield RunningProcess(kind, row[key], row["release"], row["revision"])
