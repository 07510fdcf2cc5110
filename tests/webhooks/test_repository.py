"""The repositories of webhooks and of deliveries."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, text

from app.database.keyset import PageRequest
from app.database.transaction import OpenTransaction, Transaction, open_transactions
from app.errors import ConflictError
from app.identity import uuid7
from app.jobs.records import JobEnded
from app.jobs.repository import JobRepository
from app.tasks.service import finish_training
from app.webhooks.records import MAX_WEBHOOKS, new_secret
from app.webhooks.repository import SUBSCRIBERS, AttemptRepository, DeliveryRepository, WebhookRepository
from relevance_bayes.records.errors import InvalidRequestError, NotFoundError
from relevance_bayes.records.jobs import JobKind, JobState
from relevance_bayes.records.webhooks import (
    ALARM_EVENT_TYPES,
    EVENT_TYPES,
    OF_KIND,
    Attempt,
    Delivery,
    EventType,
    Webhook,
    WebhookChange,
)
from tests import samples
from tests.doubles.queue import ListedQueue


def hook(
    transaction: OpenTransaction,
    *,
    owner: str = samples.OWNER,
    events: tuple[EventType, ...] = EVENT_TYPES,
    secret: str | None = None,
) -> Webhook:
    webhook = Webhook(
        str(uuid7()), "https://hooks.example/here?key=1", events, "the 😀 one", enabled=True, created_at=samples.AT
    )
    with transaction() as tx:
        WebhookRepository(tx).add(owner, webhook, secret or new_secret())
    return webhook


def unchanged(tx: Transaction) -> Callable[[str, UUID], Webhook]:
    return partial(WebhookRepository(tx).change, change=WebhookChange())


def test_a_secret_is_its_owners_and_goes_with_its_webhook(transaction: OpenTransaction) -> None:
    webhook, secret = hook(transaction, secret="whsec_b25l"), "whsec_b25l"
    with transaction() as tx:
        assert WebhookRepository(tx).secret(samples.OWNER, UUID(webhook.id)) == secret
        with pytest.raises(NotFoundError):
            WebhookRepository(tx).secret(samples.STRANGER, UUID(webhook.id))
        WebhookRepository(tx).remove(samples.OWNER, UUID(webhook.id))
        with pytest.raises(NotFoundError):
            WebhookRepository(tx).secret(samples.OWNER, UUID(webhook.id))


def test_a_webhook_comes_back_as_it_was_added(transaction: OpenTransaction) -> None:
    webhook = hook(transaction, events=("training_job.failed",))
    with transaction() as tx:
        assert WebhookRepository(tx).get(samples.OWNER, UUID(webhook.id)) == webhook


def test_others_webhooks_are_not_found(transaction: OpenTransaction) -> None:
    webhook = hook(transaction)
    with transaction() as tx:
        for refused in (
            WebhookRepository(tx).get,
            WebhookRepository(tx).remove,
            partial(WebhookRepository(tx).change, change=WebhookChange()),
        ):
            with pytest.raises(NotFoundError):
                refused(samples.STRANGER, UUID(webhook.id))
        with pytest.raises(NotFoundError):
            DeliveryRepository(tx).page(samples.STRANGER, UUID(webhook.id), PageRequest(9))
        with pytest.raises(NotFoundError):
            DeliveryRepository(tx).redeliver(samples.STRANGER, UUID(webhook.id), uuid4())
        assert WebhookRepository(tx).page(samples.STRANGER, PageRequest(9)).items == ()
        assert WebhookRepository(tx).get(samples.OWNER, UUID(webhook.id)) == webhook


def test_webhooks_are_listed_newest_first_page_by_page(transaction: OpenTransaction) -> None:
    webhooks = [hook(transaction) for _ in range(3)]
    with transaction() as tx:
        first = WebhookRepository(tx).page(samples.OWNER, PageRequest(2))
        second = WebhookRepository(tx).page(samples.OWNER, PageRequest(2, first.next))
        with pytest.raises(InvalidRequestError):
            WebhookRepository(tx).page(samples.OWNER, PageRequest(2, "elsewhere"))
    assert [*first.items, *second.items] == webhooks[::-1]
    assert second.next is None


def test_an_owner_has_so_many_webhooks_and_no_more(transaction: OpenTransaction) -> None:
    webhooks = [hook(transaction) for _ in range(MAX_WEBHOOKS)]
    with pytest.raises(ConflictError):
        hook(transaction)
    hook(transaction, owner=samples.STRANGER)
    with transaction() as tx:
        WebhookRepository(tx).remove(samples.OWNER, UUID(webhooks[3].id))
    hook(transaction)


def test_what_is_stated_is_changed_and_the_rest_stays(transaction: OpenTransaction) -> None:
    webhook = hook(transaction)
    with transaction() as tx:
        assert WebhookRepository(tx).change(samples.OWNER, UUID(webhook.id), WebhookChange()) == webhook
        webhook = replace(webhook, enabled=False)
        assert WebhookRepository(tx).change(samples.OWNER, UUID(webhook.id), WebhookChange(enabled=False)) == webhook
        webhook = replace(webhook, url="https://other.example/", events=("training_job.cancelled",))
        change = WebhookChange(webhook.url, webhook.events)
        assert WebhookRepository(tx).change(samples.OWNER, UUID(webhook.id), change) == webhook
    with transaction() as tx:
        assert WebhookRepository(tx).get(samples.OWNER, UUID(webhook.id)) == webhook


def test_a_removed_webhook_is_removed_at_once_and_its_deliveries_piece_by_piece(
    transaction: OpenTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.webhooks.repository.DELIVERIES_AT_ONCE", 2)
    removed, kept = hook(transaction), hook(transaction)
    for _ in range(3):
        cancelled(transaction)
    with transaction() as tx:
        assert not WebhookRepository(tx).remove_expired()
        WebhookRepository(tx).remove(samples.OWNER, UUID(removed.id))
        for refused in (
            WebhookRepository(tx).get,
            WebhookRepository(tx).remove,
            partial(WebhookRepository(tx).change, change=WebhookChange()),
        ):
            with pytest.raises(NotFoundError):
                refused(samples.OWNER, UUID(removed.id))
        assert WebhookRepository(tx).page(samples.OWNER, PageRequest(9)).items == (kept,)
    deleted = []
    for _ in range(3):
        with transaction() as tx:
            deleted.append(WebhookRepository(tx).remove_expired())
    assert deleted == [True, True, False]
    with transaction() as tx:
        assert len(DeliveryRepository(tx).page(samples.OWNER, UUID(kept.id), PageRequest(9)).items) == 3
        WebhookRepository(tx).add(samples.OWNER, removed, new_secret())  # nothing is left of it, not even its id
        assert DeliveryRepository(tx).page(samples.OWNER, UUID(removed.id), PageRequest(9)).items == ()


def cancelled(transaction: OpenTransaction) -> UUID:
    job_id = samples.queued_job(transaction)
    with transaction() as tx:
        JobRepository(tx).request_cancel(samples.OWNER, job_id)
    return job_id


REFUSED = Attempt(samples.AT, 0.25, status=500)
DELIVERED = Attempt(samples.AT, 0.5, status=204)
LATE = Attempt(samples.AT, 10.0, error="timeout")


class Away(Exception):
    """A process that was about to end a job."""


def queued(engine: Engine) -> list[tuple[UUID, UUID, float]]:
    """The attempts that were queued: entry, webhook, and seconds from then."""
    with engine.begin() as connection:
        made = "CREATE TABLE IF NOT EXISTS attempts (entry TEXT, webhook_id TEXT, delay DOUBLE PRECISION)"
        connection.execute(text(made))
        rows = connection.execute(text("SELECT entry, webhook_id, delay FROM attempts ORDER BY entry"))
        return [(UUID(entry), UUID(webhook), delay) for entry, webhook, delay in rows]


def deliveries(transaction: OpenTransaction, webhook_id: str) -> list[Delivery]:
    with transaction() as tx:
        return list(DeliveryRepository(tx).page(samples.OWNER, UUID(webhook_id), PageRequest(100)).items)


def failed(transaction: OpenTransaction, job_id: UUID) -> None:
    with transaction() as tx:
        assert JobRepository(tx).fail(job_id, 1, samples.PROBLEM)


def cancelled_delivery(transaction: OpenTransaction, job_id: UUID) -> None:
    with transaction() as tx:
        assert JobRepository(tx).cancelled(job_id, 1)


def succeeded(transaction: OpenTransaction, job_id: UUID) -> None:
    with transaction() as tx:
        assert finish_training(tx, job_id, 1, samples.new_version()) is not None


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("end", "event"),
    [
        (succeeded, "training_job.succeeded"),
        (failed, "training_job.failed"),
        (cancelled_delivery, "training_job.cancelled"),
    ],
)
def test_every_end_of_a_job_is_queued_for_all_its_subscribers(
    engine: Engine, transaction: OpenTransaction, end: Callable[[OpenTransaction, UUID], None], event: EventType
) -> None:
    all_of_it, that_alone = hook(transaction), hook(transaction, events=(event,))
    others = tuple(one for one in EVENT_TYPES if one != event)
    unwanted, strangers = hook(transaction, events=others), hook(transaction, owner=samples.STRANGER)
    disabled, removed = hook(transaction), hook(transaction)
    with transaction() as tx:
        WebhookRepository(tx).disable(UUID(disabled.id))
        WebhookRepository(tx).remove(samples.OWNER, UUID(removed.id))
    job_id = samples.running_job(transaction)
    assert queued(engine) == []
    end(transaction, job_id)
    made = [*deliveries(transaction, all_of_it.id), *deliveries(transaction, that_alone.id)]
    begun = event, str(job_id), "pending", ()
    assert [(one.type, one.job_id, one.state, one.attempts) for one in made] == 2 * [begun]
    assert len({one.event_id for one in made}) == 1
    assert len({one.id for one in made}) == 2
    entries = sorted((str(webhook), delay) for _, webhook, delay in queued(engine))  # of one moment, in any order
    assert entries == sorted([(all_of_it.id, 0.0), (that_alone.id, 0.0)])
    assert deliveries(transaction, unwanted.id) == deliveries(transaction, disabled.id) == []
    with transaction() as tx:
        assert DeliveryRepository(tx).page(samples.STRANGER, UUID(strangers.id), PageRequest(9)).items == ()


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "state", "event"), [(k, s, e) for k, of in OF_KIND.items() for s, e in of.items()])
def test_an_event_of_each_type_is_stored_and_read(
    transaction: OpenTransaction, kind: JobKind, state: JobState, event: EventType
) -> None:
    webhook, job_id = hook(transaction, events=(event,)), samples.queued_job(transaction)
    with transaction() as tx:
        tx.publish(JobEnded(job_id, samples.OWNER, kind, state, samples.AT))
    assert [(one.type, one.job_id) for one in deliveries(transaction, webhook.id)] == [(event, str(job_id))]


def test_each_event_type_is_the_end_of_a_job_or_about_an_alarm() -> None:
    ends = {event for ends in OF_KIND.values() for event in ends.values()}
    assert ends | set(ALARM_EVENT_TYPES) == set(EVENT_TYPES)
    assert ends.isdisjoint(ALARM_EVENT_TYPES)


def test_an_end_that_is_rolled_back_notifies_nobody(engine: Engine, transaction: OpenTransaction) -> None:
    webhook = hook(transaction)
    job_id = samples.running_job(transaction)
    with suppress(Away), transaction() as tx:
        JobRepository(tx).fail(job_id, 1, samples.PROBLEM)
        raise Away
    with transaction() as tx:
        assert not JobRepository(tx).fail(job_id, 7, samples.PROBLEM)  # of a start that was superseded
        JobRepository(tx).request_cancel(samples.OWNER, job_id)  # a wish is no end
    assert deliveries(transaction, webhook.id) == []
    assert queued(engine) == []
    cancelled_delivery(transaction, job_id)
    with transaction() as tx:
        assert not JobRepository(tx).cancelled(job_id, 1)
    assert len(deliveries(transaction, webhook.id)) == len(queued(engine)) == 1


def first_entry(engine: Engine, transaction: OpenTransaction, webhook_id: str) -> UUID:
    """The delivery of a job's end to the webhook."""
    job_id = samples.queued_job(transaction)
    with transaction() as tx:
        JobRepository(tx).request_cancel(samples.OWNER, job_id)
    return queued(engine)[-1][0]


def test_an_attempt_that_fails_queues_the_next_one_and_one_that_succeeds_does_not(
    engine: Engine, transaction: OpenTransaction
) -> None:
    webhook = hook(transaction)
    first = first_entry(engine, transaction, webhook.id)
    with transaction() as tx:
        delivery_attempt = AttemptRepository(tx).find(first)
        assert delivery_attempt is not None
        assert (delivery_attempt.url, delivery_attempt.enabled, delivery_attempt.tries) == (webhook.url, True, 0)
        assert delivery_attempt.secret.startswith("whsec_")
        assert delivery_attempt.secret not in repr(delivery_attempt)
        assert AttemptRepository(tx).record(first, LATE, retry_in=30.0)
    second, to, delay = queued(engine)[-1]
    assert (str(to), delay) == (webhook.id, 30.0)
    with transaction() as tx:
        assert AttemptRepository(tx).find(first) is None
        assert not AttemptRepository(tx).record(first, DELIVERED, retry_in=None)  # a worker that was frozen, and thawed
        again = AttemptRepository(tx).find(second)
        assert again is not None
        assert (again.event_id, again.tries) == (delivery_attempt.event_id, 1)
    (pending,) = deliveries(transaction, webhook.id)
    assert (pending.state, pending.attempts) == ("pending", (LATE,))
    assert pending.next_attempt_at is not None
    with transaction() as tx:
        assert AttemptRepository(tx).record(second, DELIVERED, retry_in=30.0)
        assert AttemptRepository(tx).find(second) is None
    (done,) = deliveries(transaction, webhook.id)
    assert (done.state, done.next_attempt_at, done.attempts) == ("delivered", None, (LATE, DELIVERED))
    assert len(queued(engine)) == 2


def test_the_next_attempt_is_foretold(engine: Engine, transaction: OpenTransaction) -> None:
    webhook = hook(transaction)
    entry = first_entry(engine, transaction, webhook.id)
    (before,) = deliveries(transaction, webhook.id)
    with transaction() as tx:
        AttemptRepository(tx).record(entry, REFUSED, retry_in=3600.0)
    (after,) = deliveries(transaction, webhook.id)
    assert before.next_attempt_at is not None
    assert after.next_attempt_at is not None
    assert timedelta(0) <= after.next_attempt_at - before.next_attempt_at - timedelta(hours=1) < timedelta(minutes=1)


def test_where_the_last_attempt_fails_a_delivery_has_failed(engine: Engine, transaction: OpenTransaction) -> None:
    webhook = hook(transaction)
    entry = first_entry(engine, transaction, webhook.id)
    with transaction() as tx:
        assert AttemptRepository(tx).record(entry, REFUSED, retry_in=None)
    (delivery,) = deliveries(transaction, webhook.id)
    assert (delivery.state, delivery.next_attempt_at, delivery.attempts) == ("failed", None, (REFUSED,))
    assert len(queued(engine)) == 1


@pytest.mark.parametrize("state", ["pending", "failed", "delivered"])
def test_a_delivery_begins_anew_whatever_became_of_it(engine: Engine, transaction: OpenTransaction, state: str) -> None:
    webhook = hook(transaction)
    entry = first_entry(engine, transaction, webhook.id)
    before = {"pending": (REFUSED, 60.0), "failed": (REFUSED, None), "delivered": (DELIVERED, None)}[state]
    with transaction() as tx:
        AttemptRepository(tx).record(entry, before[0], retry_in=before[1])
    (delivery,) = deliveries(transaction, webhook.id)
    waiting = queued(engine)[-1][0]
    assert delivery.state == state
    with transaction() as tx:
        again = DeliveryRepository(tx).redeliver(samples.OWNER, UUID(webhook.id), UUID(delivery.id))
    assert (again.state, again.attempts, again.event_id) == ("pending", (before[0],), delivery.event_id)
    entry, _, delay = queued(engine)[-1]
    assert delay == 0.0
    with transaction() as tx:
        delivery_attempt = AttemptRepository(tx).find(entry)
        assert delivery_attempt is not None
        assert delivery_attempt.tries == 0
        assert AttemptRepository(tx).find(waiting) is None
        AttemptRepository(tx).record(entry, DELIVERED, retry_in=None)
    (done,) = deliveries(transaction, webhook.id)
    assert (done.state, done.attempts) == ("delivered", (before[0], DELIVERED))


def test_only_ones_own_deliveries_to_an_enabled_webhook_begin_anew(
    engine: Engine, transaction: OpenTransaction
) -> None:
    webhook, other = hook(transaction), hook(transaction)
    first_entry(engine, transaction, webhook.id)
    (delivery,) = deliveries(transaction, webhook.id)
    with transaction() as tx:
        for webhook_id, of_it in ((other.id, delivery.id), (webhook.id, uuid4()), (uuid4(), delivery.id)):
            with pytest.raises(NotFoundError):
                DeliveryRepository(tx).redeliver(samples.OWNER, UUID(str(webhook_id)), UUID(str(of_it)))
        WebhookRepository(tx).disable(UUID(webhook.id))
        with pytest.raises(ConflictError):
            DeliveryRepository(tx).redeliver(samples.OWNER, UUID(webhook.id), UUID(delivery.id))


def test_a_webhook_is_tried_whatever_its_events(engine: Engine, transaction: OpenTransaction) -> None:
    webhook = hook(transaction, events=("training_job.failed",))
    with transaction() as tx:
        made = DeliveryRepository(tx).test(samples.OWNER, UUID(webhook.id))
    assert (made.type, made.job_id, made.state, made.attempts) == ("webhook.test", None, "pending", ())
    ((entry, to, delay),) = queued(engine)
    assert (str(to), delay) == (webhook.id, 0.0)
    with transaction() as tx:
        delivery_attempt = AttemptRepository(tx).find(entry)
    assert delivery_attempt is not None
    assert (delivery_attempt.type, delivery_attempt.job_id, delivery_attempt.created_at) == (
        made.type,
        None,
        made.created_at,
    )
    assert deliveries(transaction, webhook.id) == [made]


def test_only_ones_own_webhook_that_is_enabled_is_tried(transaction: OpenTransaction) -> None:
    webhook = hook(transaction)
    with transaction() as tx, pytest.raises(NotFoundError):
        DeliveryRepository(tx).test(samples.STRANGER, UUID(webhook.id))
    with transaction() as tx:
        WebhookRepository(tx).disable(UUID(webhook.id))
    with transaction() as tx, pytest.raises(ConflictError, match="disabled"):
        DeliveryRepository(tx).test(samples.OWNER, UUID(webhook.id))


def test_what_is_queued_for_a_webhook_that_was_removed_is_not_delivered(
    engine: Engine, transaction: OpenTransaction
) -> None:
    webhook = hook(transaction)
    entry = first_entry(engine, transaction, webhook.id)
    with transaction() as tx:
        WebhookRepository(tx).remove(samples.OWNER, UUID(webhook.id))
        assert AttemptRepository(tx).find(entry) is None


def test_a_disabled_webhook_is_known_to_be_so(engine: Engine, transaction: OpenTransaction) -> None:
    webhook = hook(transaction)
    entry = first_entry(engine, transaction, webhook.id)
    with transaction() as tx:
        WebhookRepository(tx).disable(UUID(webhook.id))
        delivery_attempt = AttemptRepository(tx).find(entry)
        assert delivery_attempt is not None
        assert not delivery_attempt.enabled


def test_of_many_attempts_the_newest_are_kept(
    engine: Engine, transaction: OpenTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.webhooks.repository.ATTEMPTS_KEPT", 2)
    webhook = hook(transaction)
    entry = first_entry(engine, transaction, webhook.id)
    for status in (500, 501, 502):
        with transaction() as tx:
            AttemptRepository(tx).record(entry, Attempt(samples.AT, 0.1, status), retry_in=1.0)
        entry = queued(engine)[-1][0]
    (delivery,) = deliveries(transaction, webhook.id)
    assert [attempt.status for attempt in delivery.attempts] == [501, 502]


def test_deliveries_are_listed_newest_first_page_by_page(engine: Engine, transaction: OpenTransaction) -> None:
    webhook = hook(transaction)
    for _ in range(3):
        first_entry(engine, transaction, webhook.id)
    with transaction() as tx:
        first = DeliveryRepository(tx).page(samples.OWNER, UUID(webhook.id), PageRequest(2))
        second = DeliveryRepository(tx).page(samples.OWNER, UUID(webhook.id), PageRequest(2, first.next))
    listed = [delivery.id for delivery in (*first.items, *second.items)]
    assert listed == sorted(listed, reverse=True)
    assert (len(set(listed)), second.next) == (3, None)
    with transaction() as tx:
        oldest = PageRequest(9, order="oldest")
        turned = DeliveryRepository(tx).page(samples.OWNER, UUID(webhook.id), oldest, state="pending")
        none = DeliveryRepository(tx).page(samples.OWNER, UUID(webhook.id), PageRequest(9), state="failed")
    assert ([delivery.id for delivery in turned.items], none.items) == (listed[::-1], ())


def test_attempts_that_should_have_begun_are_found(engine: Engine, transaction: OpenTransaction) -> None:
    webhook = hook(transaction)
    late, waiting, done = (first_entry(engine, transaction, webhook.id) for _ in range(3))
    with transaction() as tx:
        AttemptRepository(tx).record(waiting, REFUSED, retry_in=1000.0)
        AttemptRepository(tx).record(done, DELIVERED, retry_in=None)
        AttemptRepository(tx).record(late, REFUSED, retry_in=0.0)
    late = queued(engine)[-1][0]
    with transaction() as tx:
        assert AttemptRepository(tx).overdue(seconds=60.0, limit=9) == ()
        assert AttemptRepository(tx).overdue(seconds=-1.0, limit=9) == ((late, 1),)
        assert [tries for _, tries in AttemptRepository(tx).overdue(seconds=-2000.0, limit=9)] == [1, 1]
        assert len(AttemptRepository(tx).overdue(seconds=-2000.0, limit=1)) == 1


def test_deliveries_that_are_done_are_forgotten_for_their_age(
    engine: Engine, transaction: OpenTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.webhooks.repository.DELIVERIES_AT_ONCE", 2)
    webhook = hook(transaction)
    entries = [first_entry(engine, transaction, webhook.id) for _ in range(5)]
    with transaction() as tx:
        for entry in entries[:4]:
            AttemptRepository(tx).record(entry, DELIVERED, retry_in=None)
    age("webhook_deliveries", "created_at", engine)
    young = open_transactions(engine, ListedQueue, subscribers=SUBSCRIBERS)  # by the real clock
    entries.append(first_entry(engine, young, webhook.id))
    with transaction() as tx:
        AttemptRepository(tx).record(entries[-1], REFUSED, retry_in=None)
    deleted = []
    for _ in range(3):
        with transaction() as tx:
            deleted.append(DeliveryRepository(tx).remove_expired(older_than=86_400.0))
    assert deleted == [True, True, False]
    left = deliveries(transaction, webhook.id)
    assert [delivery.state for delivery in left] == ["failed", "pending"]
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM webhook_attempts")).scalar_one() == 1


def age(table: str, column: str, engine: Engine) -> None:
    """Have all rows be ten days old."""
    with engine.begin() as connection:
        old = "now() - interval '10 days'" if engine.dialect.name == "postgresql" else "datetime('now', '-10 days')"
        connection.execute(text(f"UPDATE {table} SET {column} = {old} WHERE {column} IS NOT NULL"))
