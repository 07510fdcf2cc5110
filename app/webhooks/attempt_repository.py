"""The repository of the attempts of webhook deliveries."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import delete, select, text, update

from app.database.base import DatabaseNow, SecondsSince, changed
from app.database.transaction import Transaction
from app.identity import uuid7
from app.webhooks.records import DeliveryAttempt
from app.webhooks.tables import ATTEMPT, MESSAGE_TYPE, PENDING, WebhookAttemptRow, WebhookDeliveryRow, WebhookRow
from relevance_bayes.records.webhooks import Attempt

ATTEMPTS_KEPT = 50
"""The number of attempts of one delivery that are kept, the newest."""


@dataclass(frozen=True)
class AttemptRepository:
    """Attempts of deliveries. Each has its own queue entry: with any entry but the newest one, nothing is changed."""

    tx: Transaction

    def find(self, entry: UUID) -> DeliveryAttempt | None:
        """Return the attempt of an entry; None where it is not the newest entry, or the webhook is disabled."""
        row, hook = WebhookDeliveryRow, WebhookRow
        found = self.tx.session.execute(
            select(row, hook)
            .join(hook, hook.id == row.webhook_id)
            .where(row.entry == entry, row.state == "pending", hook.deleted_at.is_(None))
            .execution_options(populate_existing=True)
        ).one_or_none()
        if found is None:
            return None
        delivery, webhook = found
        return DeliveryAttempt(
            delivery.id,
            webhook.id,
            delivery.event_id,
            MESSAGE_TYPE.validate_python(delivery.type),
            delivery.job_id,
            delivery.created_at,
            webhook.url,
            webhook.enabled,
            delivery.tries,
            webhook.secret,
            delivery.traceparent,
            delivery.alarm_id,
            delivery.tracestate,
        )

    def record(self, entry: UUID, attempt: Attempt, *, retry_in: float | None) -> bool:
        """Record an attempt and queue a retry; without `retry_in`, a failed attempt is the last.

        Return False, and record nothing, where the entry is not the newest.
        """
        row, following = WebhookDeliveryRow, uuid7()
        again = not attempt.has_succeeded and retry_in is not None
        state = "pending" if again else "delivered" if attempt.has_succeeded else "failed"
        values = {"state": state, "tries": row.tries + 1, "attempts": row.attempts + 1}
        next_one = {"entry": following, "queued_at": DatabaseNow(), "delay": retry_in} if again else {}
        noted = self.tx.session.execute(
            update(row)
            .where(row.entry == entry, row.state == "pending")
            .values(**values, **next_one)
            .returning(row.id, row.webhook_id, row.attempts),
            execution_options={"synchronize_session": False},
        ).one_or_none()
        if noted is None:
            return False
        delivery_id, webhook_id, number = noted
        old = delete(WebhookAttemptRow).where(
            WebhookAttemptRow.delivery_id == delivery_id, WebhookAttemptRow.number <= number - ATTEMPTS_KEPT
        )
        changed(self.tx.session, old)
        self.tx.session.add(ATTEMPT.write(WebhookAttemptRow, attempt, delivery_id=delivery_id, number=number))
        self.tx.session.flush()
        if again and retry_in is not None:
            self.tx.queue.deliver(following, webhook_id=webhook_id, delay=retry_in)
        return True

    def overdue(self, *, seconds: float, limit: int) -> tuple[tuple[UUID, int], ...]:
        """Return entries, with their earlier attempts, that are overdue by so many seconds; the oldest first."""
        row = WebhookDeliveryRow
        late = select(row.entry, row.tries).where(text(PENDING), SecondsSince(row.queued_at) > row.delay + seconds)
        found = self.tx.session.execute(late.order_by(row.queued_at).limit(limit))
        return tuple((entry, tries) for entry, tries in found)

    def pending_of(self, entries: Sequence[UUID]) -> frozenset[UUID]:
        """Return those of these entries that are the newest of a pending delivery."""
        row = WebhookDeliveryRow
        return frozenset(
            self.tx.session.scalars(select(row.entry).where(row.entry.in_(entries), row.state == "pending"))
        )
