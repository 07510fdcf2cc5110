"""Webhooks of an owner: register, change, test, deliveries; and their metrics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from app.addresses import Allowance
from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import Clock, OpenTransaction, Transaction
from app.errors import ConflictError
from app.http.idempotency_records import Keyed
from app.http.key_repository import IdempotencyKeyRepository
from app.identity import uuid7
from app.jobs.metrics import OLDEST, QUEUED
from app.metrics import MetricSample
from app.webhooks.records import new_secret
from app.webhooks.repository import DeliveryRepository, WebhookRepository
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.webhooks import (
    EVENT_TYPES,
    Delivery,
    DeliveryState,
    EventType,
    Webhook,
    WebhookChange,
    WebhookRequest,
)


@dataclass(frozen=True)
class WebhookService:
    """Webhooks; `allowed` restricts the addresses of their URLs."""

    transaction: OpenTransaction
    allowed: Allowance
    clock: Clock

    def register(self, owner: str, requested: WebhookRequest, keyed: Keyed[Webhook] | None = None) -> Webhook:
        """Register a webhook with a new secret.

        Raises InvalidRequestError where the URL is not allowed, ConflictError for more than the maximum.
        """
        url, events = requested.url, _once(requested.events)
        self.allowed.checked(url)
        webhook = Webhook(str(uuid7()), url, events, requested.description, enabled=True, created_at=self.clock())
        response = None if keyed is None else keyed.response(webhook)
        with self.transaction() as tx:
            WebhookRepository(tx).add(owner, webhook, new_secret())
            if keyed is not None and response is not None:
                IdempotencyKeyRepository(tx).keep(keyed.key, response)
        return webhook

    def secret(self, owner: str, webhook_id: UUID) -> str:
        """Return the secret that signs a webhook's messages; raises ConflictError where the webhook was removed."""
        try:
            with self.transaction() as tx:
                return WebhookRepository(tx).secret(owner, webhook_id)
        except NotFoundError as error:
            raise ConflictError("The webhook that this request made was removed, and its secret with it.") from error

    def get(self, owner: str, webhook_id: UUID) -> Webhook:
        """Return a webhook; raises NotFoundError."""
        with self.transaction() as tx:
            return WebhookRepository(tx).get(owner, webhook_id)

    def page(self, owner: str, part: PageRequest) -> KeysetPage[Webhook]:
        """Return a page of an owner's webhooks."""
        with self.transaction() as tx:
            return WebhookRepository(tx).page(owner, part)

    def change(self, owner: str, webhook_id: UUID, change: WebhookChange) -> Webhook:
        """Change the members that are not None; raises NotFoundError, InvalidRequestError."""
        if change.url is not None:
            self.allowed.checked(change.url)
        if change.events is not None:
            change = replace(change, events=_once(change.events))
        with self.transaction() as tx:
            return WebhookRepository(tx).change(owner, webhook_id, change)

    def remove(self, owner: str, webhook_id: UUID) -> None:
        """Remove a webhook; raises NotFoundError."""
        with self.transaction() as tx:
            WebhookRepository(tx).remove(owner, webhook_id)

    def deliveries(
        self, owner: str, webhook_id: UUID, part: PageRequest, *, state: DeliveryState | None = None
    ) -> KeysetPage[Delivery]:
        """Return a page of a webhook's deliveries; raises NotFoundError."""
        with self.transaction() as tx:
            return DeliveryRepository(tx).page(owner, webhook_id, part, state=state)

    def test(self, owner: str, webhook_id: UUID) -> Delivery:
        """Queue a test message, delivered like any other; raises NotFoundError, ConflictError where the webhook is
        disabled."""
        with self.transaction() as tx:
            return DeliveryRepository(tx).test(owner, webhook_id)

    def redeliver(self, owner: str, webhook_id: UUID, delivery_id: UUID) -> Delivery:
        """Deliver a message again, now; raises NotFoundError, ConflictError where the webhook is disabled."""
        with self.transaction() as tx:
            return DeliveryRepository(tx).redeliver(owner, webhook_id, delivery_id)


def _once(events: Sequence[EventType]) -> tuple[EventType, ...]:
    """Return each event once, in the order in which they are documented."""
    return tuple(event for event in EVENT_TYPES if event in events)


QUEUE = "webhooks"


def webhook_metrics(tx: Transaction) -> Iterator[MetricSample]:
    """Yield the number of pending deliveries and the age of the oldest one that is due."""
    pending, age = DeliveryRepository(tx).backlog()
    yield MetricSample(QUEUED, (QUEUE,), (pending,))
    yield MetricSample(OLDEST, (QUEUE,), (age,))
