"""Ports of webhooks and their deliveries: part of a unit of work."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from app.domain.pages import Page, PageRequest
from app.domain.webhooks import Delivery, DeliveryAttempt, Webhook
from relevance_bayes.types.webhooks import Attempt, DeliveryState, EventType


class Webhooks(Protocol):
    """Who is told of the ends of jobs."""

    def add(self, webhook: Webhook, secret: str) -> None:
        """Raises ConflictError when its owner has MAX_WEBHOOKS already."""

    def get(self, owner: str, webhook_id: UUID) -> Webhook:
        """Raises NotFoundError."""

    def secret(self, owner: str, webhook_id: UUID) -> str:
        """Return the secret that signs its messages; raises NotFoundError."""

    def page(self, owner: str, part: PageRequest) -> Page[Webhook]: ...

    def change(
        self,
        owner: str,
        webhook_id: UUID,
        *,
        url: str | None = None,
        events: Sequence[EventType] | None = None,
        enabled: bool | None = None,
    ) -> Webhook:
        """Change what is not None; raises NotFoundError."""

    def disable(self, webhook_id: UUID) -> None:
        """Its receiver wants no more."""

    def remove(self, owner: str, webhook_id: UUID) -> None:
        """Delete it with its deliveries, piece by piece; raises NotFoundError."""

    def remove_expired(self) -> bool:
        """Forget a piece of those that were removed; whether to call again, in a new transaction."""


class Deliveries(Protocol):
    """Webhook deliveries; made and queued in the transaction that ends a job.

    Each attempt has an entry of its own in the engine: who holds another one than the newest changes nothing.
    """

    def page(
        self, owner: str, webhook_id: UUID, part: PageRequest, *, state: DeliveryState | None = None
    ) -> Page[Delivery]:
        """Newest first; raises NotFoundError."""

    def test(self, owner: str, webhook_id: UUID) -> Delivery:
        """Have it told that it is tried, whatever else it is told of; raises NotFoundError, ConflictError likewise."""

    def redeliver(self, owner: str, webhook_id: UUID, delivery_id: UUID) -> Delivery:
        """Begin anew, now; raises NotFoundError, ConflictError where the webhook is disabled."""

    def delivery_attempt(self, entry: UUID) -> DeliveryAttempt | None:
        """Return what is to be done; None when the entry is no longer the newest, or nobody is to be told."""

    def record(self, entry: UUID, attempt: Attempt, *, retry_in: float | None) -> bool:
        """Note an attempt and queue the next one; without one, and where it failed, that was all.

        False, and nothing noted, when the entry is no longer the newest.
        """

    def overdue(self, *, seconds: float, limit: int) -> tuple[tuple[UUID, int], ...]:
        """Entries, and the tries before them, that should have begun so many seconds ago; the oldest first."""

    def pending_of(self, entries: Sequence[UUID]) -> frozenset[UUID]:
        """Those of these entries that are some delivery's newest, whose attempt is still to be made or recorded."""

    def remove_expired(self, *, older_than: float) -> bool:
        """Forget some that are done and that old, in seconds; whether to call again, in a new transaction."""
