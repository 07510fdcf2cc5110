"""The repository of webhook deliveries."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Select, delete, func, insert, select, text, update
from sqlalchemy.orm import Session

from app.database import keyset
from app.database.base import DatabaseNow, SecondsSince, changed
from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import Subscriber, Transaction, on
from app.errors import ConflictError
from app.identity import uuid7
from app.jobs.records import JobEnded
from app.outcomes.records import AlarmCleared, AlarmRaised
from app.tracing.spans import current_traceparent, current_tracestate
from app.webhooks.records import webhook_path
from app.webhooks.tables import (
    ATTEMPT,
    DELIVERY_STATE,
    EVENTS,
    MESSAGE_TYPE,
    PENDING,
    WebhookAttemptRow,
    WebhookDeliveryRow,
    WebhookRow,
)
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.webhooks import OF_KIND, TEST, Attempt, Delivery, DeliveryState, EventType, MessageType

DELIVERIES_AT_ONCE = 100


def forget_deliveries(session: Session, which: Select[UUID]) -> int:
    """Delete these deliveries with their attempts; return their number."""
    found = session.scalars(which).all()
    changed(session, delete(WebhookAttemptRow).where(WebhookAttemptRow.delivery_id.in_(found)))
    return changed(session, delete(WebhookDeliveryRow).where(WebhookDeliveryRow.id.in_(found)))


@dataclass(frozen=True)
class DeliveryRepository:
    """Webhook deliveries; created and queued in the transaction that ends a job, or that raises or clears an alarm."""

    tx: Transaction

    def begin(self, ended: JobEnded) -> None:
        """Queue the message of a job's end for every webhook of its owner that subscribes to the event."""
        event, event_id = OF_KIND[ended.kind][ended.state], uuid7()
        for webhook_id in self._subscribed(ended.owner, event):
            self._begin(
                webhook_id, event, event_id, job_id=ended.job_id, submission=(ended.traceparent, ended.tracestate)
            )

    def begin_alarm(self, owner: str, event: EventType, alarm_id: UUID) -> None:
        """Queue the message that an alarm was raised or cleared for every webhook that subscribes to the event."""
        event_id = uuid7()
        for webhook_id in self._subscribed(owner, event):
            self._begin(webhook_id, event, event_id, alarm_id=alarm_id)

    def _subscribed(self, owner: str, event: EventType) -> list[UUID]:
        """Return the webhooks of an owner that subscribe to an event.

        The deletion of one of them waits for this transaction, or the other way round.
        """
        hook = WebhookRow
        mine = select(hook.id, hook.events).where(
            hook.owner == owner, hook.enabled.is_(True), hook.deleted_at.is_(None)
        )
        found = self.tx.session.execute(mine.with_for_update(read=True, key_share=True)).all()
        return [webhook_id for webhook_id, events in found if event in EVENTS.read(events)]

    def _begin(
        self,
        webhook_id: UUID,
        event: MessageType,
        event_id: UUID,
        *,
        job_id: UUID | None = None,
        alarm_id: UUID | None = None,
        submission: tuple[str | None, str | None] = (None, None),
    ) -> UUID:
        """Insert a delivery in the current trace, else in that of the job's submission; queue its first attempt.

        Return its id.
        """
        delivery_id, entry = uuid7(), uuid7()
        current = current_traceparent(), current_tracestate()
        traceparent, tracestate = submission if current[0] is None else current
        made = insert(WebhookDeliveryRow).values(
            id=delivery_id,
            webhook_id=webhook_id,
            event_id=event_id,
            type=event,
            job_id=job_id,
            alarm_id=alarm_id,
            created_at=self.tx.clock(),
            state="pending",
            entry=entry,
            queued_at=DatabaseNow(),
            delay=0.0,
            tries=0,
            attempts=0,
            traceparent=traceparent,
            tracestate=tracestate,
        )
        self.tx.session.execute(made)
        self.tx.queue.deliver(entry, webhook_id=webhook_id, delay=0.0)
        return delivery_id

    def backlog(self) -> tuple[int, float]:
        """Return the number of pending deliveries, and for how many seconds one has been due at most."""
        row = WebhookDeliveryRow
        late = func.max(SecondsSince(row.queued_at) - row.delay)
        pending, age = self.tx.session.execute(select(func.count(), late).where(text(PENDING))).one()
        return pending, max(0.0, age or 0.0)

    def page(
        self, owner: str, webhook_id: UUID, part: PageRequest, *, state: DeliveryState | None = None
    ) -> KeysetPage[Delivery]:
        """Return a page of deliveries, newest first; raises NotFoundError, InvalidRequestError for a bad cursor."""
        self._is_enabled(owner, webhook_id)
        row = WebhookDeliveryRow
        query = select(row).where(row.webhook_id == webhook_id).execution_options(populate_existing=True)
        if state is not None:
            query = query.where(row.state == state)
        rows = self.tx.session.scalars(keyset.by_age(query, row.id, part, keyset.read_id)).all()
        return keyset.page(self._read(rows), part.limit, lambda delivery: delivery, lambda delivery: delivery.id)

    def test(self, owner: str, webhook_id: UUID) -> Delivery:
        """Queue a test message, whatever events the webhook subscribes to.

        Raises NotFoundError, ConflictError where the webhook is disabled.
        """
        self._enabled(owner, webhook_id)
        delivery_id = self._begin(webhook_id, TEST, uuid7())
        self.tx.record("webhook.tested", owner, webhook_path(webhook_id))
        return self._one(delivery_id)

    def redeliver(self, owner: str, webhook_id: UUID, delivery_id: UUID) -> Delivery:
        """Queue a delivery again, now; raises NotFoundError, ConflictError where the webhook is disabled."""
        self._enabled(owner, webhook_id)
        row, entry = WebhookDeliveryRow, uuid7()
        anew = {
            "state": "pending",
            "entry": entry,
            "queued_at": DatabaseNow(),
            "delay": 0.0,
            "tries": 0,
            "traceparent": current_traceparent(),
            "tracestate": current_tracestate(),
        }
        mine = update(row).where(row.id == delivery_id, row.webhook_id == webhook_id)
        if not changed(self.tx.session, mine.values(**anew)):
            raise NotFoundError(f"There is no delivery {delivery_id} of this webhook.")
        self.tx.queue.deliver(entry, webhook_id=webhook_id, delay=0.0)
        self.tx.record("delivery.repeated", owner, f"{webhook_path(webhook_id)}/deliveries/{delivery_id}")
        return self._one(delivery_id)

    def remove_expired(self, *, older_than: float) -> bool:
        """Delete some finished deliveries older than so many seconds; return whether there may be more."""
        row = WebhookDeliveryRow
        oldest = self.tx.session.execute(
            select(row.id, SecondsSince(row.created_at))
            .where(row.state != "pending")
            .order_by(row.id)
            .limit(DELIVERIES_AT_ONCE)
        ).all()
        old = [delivery_id for delivery_id, seconds in oldest if seconds > older_than]
        which = select(row.id).where(row.id.in_(old), row.state != "pending")
        return bool(old) and forget_deliveries(self.tx.session, which) == DELIVERIES_AT_ONCE

    def _one(self, delivery_id: UUID) -> Delivery:
        row = WebhookDeliveryRow
        found = select(row).where(row.id == delivery_id).execution_options(populate_existing=True)
        return self._read(self.tx.session.scalars(found).all())[0]

    def _enabled(self, owner: str, webhook_id: UUID) -> None:
        """Raise NotFoundError, or ConflictError where the webhook is disabled."""
        if not self._is_enabled(owner, webhook_id):
            raise ConflictError("The webhook is disabled: enable it first.")

    def _is_enabled(self, owner: str, webhook_id: UUID) -> bool:
        """Return whether a webhook is enabled; raises NotFoundError."""
        hook = WebhookRow
        mine = select(hook.enabled).where(hook.owner == owner, hook.id == webhook_id, hook.deleted_at.is_(None))
        enabled = self.tx.session.scalar(mine)
        if enabled is None:
            raise NotFoundError(f"There is no webhook {webhook_id}.")
        return enabled

    def _read(self, rows: Sequence[WebhookDeliveryRow]) -> list[Delivery]:
        made: dict[UUID, list[Attempt]] = defaultdict(list)
        attempts = select(WebhookAttemptRow).where(WebhookAttemptRow.delivery_id.in_([row.id for row in rows]))
        for row in self.tx.session.scalars(attempts.order_by(WebhookAttemptRow.delivery_id, WebhookAttemptRow.number)):
            made[row.delivery_id].append(ATTEMPT.read(row))
        return [_delivery(row, tuple(made[row.id])) for row in rows]


def _delivery(row: WebhookDeliveryRow, attempts: tuple[Attempt, ...]) -> Delivery:
    job_id, state = None if row.job_id is None else str(row.job_id), DELIVERY_STATE.validate_python(row.state)
    next_attempt_at = row.queued_at + timedelta(seconds=row.delay) if state == "pending" else None
    event = str(row.event_id), MESSAGE_TYPE.validate_python(row.type), job_id
    return Delivery(str(row.id), *event, row.created_at, state, next_attempt_at, attempts)


def _deliver(tx: Transaction, ended: JobEnded) -> None:
    DeliveryRepository(tx).begin(ended)


def _deliver_raised(tx: Transaction, raised: AlarmRaised) -> None:
    DeliveryRepository(tx).begin_alarm(raised.owner, "model_alarm.raised", raised.alarm_id)


def _deliver_cleared(tx: Transaction, cleared: AlarmCleared) -> None:
    DeliveryRepository(tx).begin_alarm(cleared.owner, "model_alarm.cleared", cleared.alarm_id)


SUBSCRIBERS: tuple[Subscriber, ...] = (
    on(JobEnded, _deliver),
    on(AlarmRaised, _deliver_raised),
    on(AlarmCleared, _deliver_cleared),
)
