"""Protocols of the queue outside a transaction, and the record of a worker's last heartbeat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID


@dataclass(frozen=True)
class LastHeartbeat:
    """The time of a worker's last heartbeat, by the database's clock, and whether the worker has left."""

    at: datetime
    left: bool


@dataclass(frozen=True)
class WorkerUse:
    """The use of a worker: `running` of its `slots` run a fit, and its fits took `busy_seconds` since its start."""

    slots: int
    running: int
    busy_seconds: float


@dataclass(frozen=True)
class SeenWorker:
    """A worker that has not left; it `is_alive` where its last heartbeat is recent. Its `use` is None until a heartbeat
    has it."""

    executor: str
    is_alive: bool
    use: WorkerUse | None

    @property
    def state(self) -> Literal["busy", "idle", "silent"]:
        """Return whether fits run, none runs, or no heartbeats come."""
        if not self.is_alive:
            return "silent"
        return "idle" if self.use is None or self.use.running == 0 else "busy"


QueueState = Literal["waiting", "running", "ended", "unknown"]


class QueueControl(Protocol):
    """Operations on the queue outside a transaction."""

    def cancel(self, job_id: UUID) -> None: ...

    def state(self, job_id: UUID) -> QueueState: ...


QueueOutcome = Literal["succeeded", "failed", "cancelled", "lost", "unknown"]
"""The end of a job's queue entry: success, an error, cancelled, timed out, started too often, or unknown."""


class Recovery(Protocol):
    """Operations of workers on the queue for the recovery of each other's jobs."""

    def holders(self) -> frozenset[str]:
        """Return the executors that have running entries in the queue."""

    def recover(self, executors: Sequence[str]) -> None:
        """Return the jobs of these executors to the queue; each recovery counts as a start."""

    def endings(self, job_ids: Sequence[UUID]) -> Mapping[UUID, QueueOutcome]:
        """Return how the entries of jobs ended; jobs that are queued or running are left out."""
