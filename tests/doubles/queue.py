"""Queues that stand for the engine's."""

from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import Connection, text

from app.errors import UnavailableError
from app.jobs.records import QueueState
from relevance_bayes.records.jobs import JobKind


class ListedQueue:
    """Keeps what was submitted in a table of the same database, so that it shares the transaction's fate."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def submit(self, job_id: UUID, *, owner: str, kind: JobKind = "training", priority: int = 0) -> None:
        self._connection.execute(text("CREATE TABLE IF NOT EXISTS submitted (job_id TEXT, owner TEXT)"))
        self._connection.execute(
            text("INSERT INTO submitted VALUES (:job_id, :owner)"), {"job_id": str(job_id), "owner": owner}
        )

    def deliver(self, entry: UUID, *, webhook_id: UUID, delay: float) -> None:
        self._connection.execute(
            text("CREATE TABLE IF NOT EXISTS attempts (entry TEXT, webhook_id TEXT, delay DOUBLE PRECISION)")
        )
        self._connection.execute(
            text("INSERT INTO attempts VALUES (:entry, :webhook_id, :delay)"),
            {"entry": str(entry), "webhook_id": str(webhook_id), "delay": delay},
        )


@dataclass
class RecordingQueue:
    """Records submissions and requests to the engine; `reachable`: whether it responds at all."""

    submitted: list[UUID] = field(default_factory=list)
    cancelled: list[UUID] = field(default_factory=list)
    delivered: list[UUID] = field(default_factory=list)
    priorities: dict[UUID, int] = field(default_factory=dict)
    reachable: bool = True

    def submit(self, job_id: UUID, *, owner: str, kind: JobKind = "training", priority: int = 0) -> None:
        self.submitted.append(job_id)
        self.priorities[job_id] = priority

    def deliver(self, entry: UUID, *, webhook_id: UUID, delay: float) -> None:
        self.delivered.append(entry)

    def cancel(self, job_id: UUID) -> None:
        if not self.reachable:
            raise UnavailableError("The engine can't be reached.")
        self.cancelled.append(job_id)

    def state(self, job_id: UUID) -> QueueState:
        return "waiting" if job_id in self.submitted else "unknown"
