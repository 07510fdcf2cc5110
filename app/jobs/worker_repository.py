"""The repository of workers and their heartbeats."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import delete, select, update

from app.database.changes import changed, insertion
from app.database.column_types import DatabaseNow, SecondsSince
from app.database.transaction import Transaction
from app.jobs.ports import LastHeartbeat
from app.jobs.tables import WorkerRow


@dataclass(frozen=True)
class WorkerRepository:
    """Heartbeats of worker processes, by the database's clock."""

    tx: Transaction

    def record_heartbeat(self, executor: str) -> None:
        """Record a heartbeat; a worker that has left stays so."""
        first = insertion(self.tx.session, WorkerRow).values(executor=executor, heartbeat_at=DatabaseNow())
        self.tx.session.execute(
            first.on_conflict_do_update(index_elements=["executor"], set_={"heartbeat_at": DatabaseNow()})
        )

    def leave(self, executor: str) -> None:
        """Record that a worker has left: its jobs may be recovered at once."""
        changed(self.tx.session, update(WorkerRow).where(WorkerRow.executor == executor).values(left_at=DatabaseNow()))

    def last_heartbeats(self) -> Mapping[str, LastHeartbeat]:
        """Return the last heartbeat of each recorded executor."""
        rows = self.tx.session.execute(select(WorkerRow.executor, WorkerRow.heartbeat_at, WorkerRow.left_at))
        return {row.executor: LastHeartbeat(row.heartbeat_at, left=row.left_at is not None) for row in rows}

    def forget(self, executor: str) -> None:
        """Delete an executor's row, once it has no job to be recovered."""
        changed(self.tx.session, delete(WorkerRow).where(WorkerRow.executor == executor))

    def alive(self, *, within: float) -> tuple[str, ...]:
        """Return the executors with a heartbeat within so many seconds that have not left."""
        recent = SecondsSince(WorkerRow.heartbeat_at) <= within
        here = select(WorkerRow.executor).where(WorkerRow.left_at.is_(None), recent).order_by(WorkerRow.executor)
        return tuple(self.tx.session.scalars(here))
