"""The running processes of the service, read from their heartbeats."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, column, select, table, true

from app.database.column_types import SecondsSince

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
