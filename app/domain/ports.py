"""Protocols of what has several implementations: the queue, listeners, clocks."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from app.domain.pages import Page as Page
from app.domain.pages import PageRequest as PageRequest
from relevance_bayes.types.jobs import JobKind


@dataclass(frozen=True)
class LastHeartbeat:
    """When a worker was last heard of, by the database's clock, and whether it has left."""

    at: datetime
    left: bool


QueueState = Literal["waiting", "running", "ended", "unknown"]


class Queue(Protocol):
    """The durable engine: who may run what, and when. Job ids are its workflow ids."""

    def submit(self, job_id: UUID, *, owner: str, kind: JobKind = "training", priority: int = 0) -> None:
        """Within the transaction that this queue belongs to."""

    def deliver(self, entry: UUID, *, webhook_id: UUID, delay: float) -> None:
        """Queue one attempt to tell a webhook, in so many seconds; within the transaction likewise."""


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


class Listener(Protocol):
    """A connection over which one thread hears that something happened to jobs, or models, whoever wrote it."""

    def receive(self) -> frozenset[UUID] | None:
        """Which are concerned, none after a moment of silence; None: it may be any. Raises UnavailableError."""


class Notifier(Protocol):
    """Where to hear of what happens to jobs, or to models."""

    def open(self) -> AbstractContextManager[Listener]:
        """Hear of everything that is committed from now on, also between two calls. Raises UnavailableError."""


Clock = Callable[[], datetime]
"""Now, in UTC, with its zone."""
