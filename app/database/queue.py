"""The queue within a transaction."""

from typing import Protocol
from uuid import UUID

from relevance_bayes.types.jobs import JobKind


class Queue(Protocol):
    """The durable engine: who may run what, and when. Job ids are its workflow ids."""

    def submit(self, job_id: UUID, *, owner: str, kind: JobKind = "training", priority: int = 0) -> None:
        """Within the transaction that this queue belongs to."""

    def deliver(self, entry: UUID, *, webhook_id: UUID, delay: float) -> None:
        """Queue one attempt to tell a webhook, in so many seconds; within the transaction likewise."""
