"""The repositories of webhooks, their deliveries and the attempts of these."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Select, delete, func, insert, select, text, update
from sqlalchemy.orm import Session

from app.addresses import read_target
from app.database import keyset
from app.database.base import Columns, DatabaseNow, SecondsSince, changed
from app.database.engine import lock_for_writing
from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import Subscriber, Transaction, on
from app.errors import ConflictError
from app.identity import uuid7
from app.jobs.records import JobEnded
from app.outcomes.records import AlarmCleared, AlarmRaised
from app.tracing.spans import current_traceparent, current_tracestate
from app.webhooks.records import MAX_WEBHOOKS, DeliveryAttempt, webhook_path
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
from relevance_bayes.records.webhooks import (
    OF_KIND,
    TEST,
    Attempt,
    Delivery,
    DeliveryState,
    EventType,
    MessageType,
    Webhook,
    WebhookChange,
)

DELIVERIES_AT_ONCE = 100


def _forget_deliveries(session: Session, which: Select[UUID]) -> int:
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
        return bool(old) and _forget_deliveries(self.tx.session, which) == DELIVERIES_AT_ONCE

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


WEBHOOK = Columns(Webhook)


@dataclass(frozen=True)
class WebhookRepository:
    """Webhooks: URLs that receive messages about the ends of jobs."""

    tx: Transaction

    def add(self, owner: str, webhook: Webhook, secret: str) -> None:
        """Insert a webhook; raises ConflictError where its owner has MAX_WEBHOOKS already."""
        lock_for_writing(self.tx.session.connection())
        mine = _visible().where(WebhookRow.owner == owner).subquery()
        if (self.tx.session.scalar(select(func.count()).select_from(mine)) or 0) >= MAX_WEBHOOKS:
            raise ConflictError(f"There are {MAX_WEBHOOKS} webhooks, the maximum: remove one first.")
        events = EVENTS.write(webhook.events)
        others = {"id": UUID(webhook.id), "owner": owner, "events": events, "secret": secret}
        self.tx.session.add(WEBHOOK.write(WebhookRow, webhook, **others))
        self.tx.session.flush()
        # Without the path of the URL, which may be a secret and which the audit would keep.
        host = read_target(webhook.url).authority
        self.tx.record("webhook.created", owner, webhook_path(webhook.id), host=host, events=events)

    def get(self, owner: str, webhook_id: UUID) -> Webhook:
        """Return a webhook; raises NotFoundError."""
        return _webhook(self._row(owner, webhook_id))

    def secret(self, owner: str, webhook_id: UUID) -> str:
        """Return the secret that signs a webhook's messages; raises NotFoundError."""
        return self._row(owner, webhook_id).secret

    def page(self, owner: str, part: PageRequest) -> KeysetPage[Webhook]:
        """Return a page of webhooks; raises InvalidRequestError for an invalid cursor."""
        query = keyset.by_age(_visible().where(WebhookRow.owner == owner), WebhookRow.id, part, keyset.read_id)
        return keyset.page(self.tx.session.scalars(query).all(), part.limit, _webhook, lambda row: row.id)

    def change(self, owner: str, webhook_id: UUID, change: WebhookChange) -> Webhook:
        """Change the members that are not None; raises NotFoundError."""
        row = WebhookRow
        events = None if change.events is None else EVENTS.write(change.events)
        values = {name: value for name, value in (vars(change) | {"events": events}).items() if value is not None}
        if values:
            mine = update(row).where(row.owner == owner, row.id == webhook_id, row.deleted_at.is_(None))
            changed(self.tx.session, mine.values(**values))
        webhook = self.get(owner, webhook_id)
        if values:
            host = None if change.url is None else read_target(change.url).authority
            path = webhook_path(webhook_id)
            self.tx.record("webhook.updated", owner, path, host=host, events=events, enabled=change.enabled)
        return webhook

    def disable(self, webhook_id: UUID) -> None:
        """Disable a webhook whose receiver has unsubscribed."""
        row = WebhookRow
        enabled = update(row).where(row.id == webhook_id, row.enabled.is_(True)).values(enabled=False)
        owner = self.tx.session.scalar(enabled.returning(row.owner), execution_options={"synchronize_session": False})
        if owner is not None:
            self.tx.record("webhook.disabled", owner, webhook_path(webhook_id))

    def remove(self, owner: str, webhook_id: UUID) -> None:
        """Remove a webhook and its secret; `remove_expired` deletes its deliveries. Raises NotFoundError."""
        row = WebhookRow
        mine = update(row).where(row.owner == owner, row.id == webhook_id, row.deleted_at.is_(None))
        if not changed(self.tx.session, mine.values(deleted_at=self.tx.clock(), enabled=False, secret="")):
            raise NotFoundError(f"There is no webhook {webhook_id}.")
        self.tx.record("webhook.deleted", owner, webhook_path(webhook_id))

    def remove_expired(self) -> bool:
        """Delete some deliveries of a removed webhook, at last the webhook itself; return whether to call again."""
        removed = self.tx.session.scalar(select(WebhookRow.id).where(WebhookRow.deleted_at.is_not(None)).limit(1))
        if removed is None:
            return False
        mine = select(WebhookDeliveryRow.id).where(WebhookDeliveryRow.webhook_id == removed).limit(DELIVERIES_AT_ONCE)
        if _forget_deliveries(self.tx.session, mine) < DELIVERIES_AT_ONCE:
            changed(self.tx.session, delete(WebhookRow).where(WebhookRow.id == removed))
        return True

    def _row(self, owner: str, webhook_id: UUID) -> WebhookRow:
        row = self.tx.session.scalar(_visible().where(WebhookRow.owner == owner, WebhookRow.id == webhook_id))
        if row is None:
            raise NotFoundError(f"There is no webhook {webhook_id}.")
        return row


def _visible() -> Select[WebhookRow]:
    return select(WebhookRow).where(WebhookRow.deleted_at.is_(None)).execution_options(populate_existing=True)


def _webhook(row: WebhookRow) -> Webhook:
    return WEBHOOK.read(row, id=str(row.id), events=EVENTS.read(row.events))
