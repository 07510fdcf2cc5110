"""Protocols of the queue outside a transaction, and the heartbeats of workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID


@dataclass(frozen=True)
class LastHeartbeat:
    """When a worker was last heard of, by the database's clock, and whether it has left."""

    at: datetime
    left: bool


QueueState = Literal["waiting", "running", "ended", "unknown"]


class QueueControl(Protocol):
    """Requests to the queue outside a transaction."""

    def cancel(self, job_id: UUID) -> None: ...

    def state(self, job_id: UUID) -> QueueState: ...


QueueEnding = Literal["succeeded", "failed", "cancelled", "lost", "unknown"]
"""The end of a job's entry in the queue: well, with an error, cancelled or late, started too often, or not known."""


class Recovery(Protocol):
    """Requests of workers to the queue about each other's jobs."""

    def holders(self) -> frozenset[str]:
        """Executors that the engine believes to be running something."""

    def recover(self, executors: Sequence[str]) -> None:
        """Let others take over what these executors were running; each time counts as a start."""

    def endings(self, job_ids: Sequence[UUID]) -> Mapping[UUID, QueueEnding]:
        """Those whose entry has ended, and how; who is missing here still waits or runs."""


class Entries(Protocol):
    """Ended entries that the queue still keeps."""

    def ended(self, *, before: datetime, skip: int, limit: int) -> Sequence[UUID]:
        """Entries that had ended by then, in a fixed order, but for the first so many."""

    def forget(self, entries: Sequence[UUID]) -> None:
        """Have the engine know nothing of these."""
