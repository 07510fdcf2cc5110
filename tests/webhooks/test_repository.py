from collections.abc import Callable
from dataclasses import replace
from functools import partial
from uuid import UUID, uuid4

import pytest

from app.database.keyset import PageRequest
from app.database.transaction import OpenTransaction, Transaction
from app.errors import ConflictError
from app.identity import uuid7
from app.jobs.repository import JobRepository
from app.webhooks.delivery_repository import DeliveryRepository
from app.webhooks.records import MAX_WEBHOOKS, new_secret
from app.webhooks.repository import WebhookRepository
from relevance_bayes.records.errors import InvalidRequestError, NotFoundError
from relevance_bayes.records.webhooks import EVENT_TYPES, EventType, Webhook, WebhookChange
from tests import samples


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
