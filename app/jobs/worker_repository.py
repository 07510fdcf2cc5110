"""The repository of workers and their heartbeats."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import delete, func, select, update

from app import __version__
from app.database.changes import changed, insertion
from app.database.column_types import DatabaseNow, SecondsSince
from app.database.revision import EXPECTED
from app.database.transaction import Transaction
from app.jobs.ports import LastHeartbeat, SeenWorker, WorkerUse
from app.jobs.tables import WorkerRow


@dataclass(frozen=True)
class WorkerRepository:
    """Heartbeats of worker processes, by the database's clock."""

    tx: Transaction

    def record_heartbeat(self, executor: str, *, speed: float | None = None, use: WorkerUse | None = None) -> None:
        """Record a heartbeat with the worker's use, the first one with its speed and release; a worker that has left
        stays so."""
        changing: dict[str, object] = {"heartbeat_at": DatabaseNow()} | ({} if use is None else vars(use))
        first = insertion(self.tx.session, WorkerRow).values(
            executor=executor, speed=speed, release=__version__, revision=EXPECTED, **changing
        )
        self.tx.session.execute(first.on_conflict_do_update(index_elements=["executor"], set_=changing))

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

    def seen(self, *, within: float) -> tuple[SeenWorker, ...]:
        """Return the workers that have not left; those with a heartbeat within so many seconds are alive."""
        row = WorkerRow
        columns = (row.executor, row.slots, row.running, row.busy_seconds, SecondsSince(row.heartbeat_at) <= within)
        query = select(*columns).where(row.left_at.is_(None)).order_by(row.executor)
        return tuple(
            SeenWorker(executor, bool(is_alive), _use(slots, running, busy_seconds))
            for executor, slots, running, busy_seconds, is_alive in self.tx.session.execute(query)
        )

    def speed(self, *, within: float) -> float | None:
        """Return the mean speed of the workers that are alive, as `alive`; None where none has measured its own."""
        recent = SecondsSince(WorkerRow.heartbeat_at) <= within
        return self.tx.session.scalar(select(func.avg(WorkerRow.speed)).where(WorkerRow.left_at.is_(None), recent))


def _use(slots: int | None, running: int | None, busy_seconds: float | None) -> WorkerUse | None:
    if slots is None or running is None or busy_seconds is None:
        return None
    return WorkerUse(slots, running, busy_seconds)
