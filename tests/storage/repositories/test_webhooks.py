from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from app.domain.ports import OpenUnitOfWork, PageRequest
from app.domain.webhooks import MAX_WEBHOOKS, Webhook, new_secret
from app.errors import ConflictError
from app.identity import uuid7
from relevance_bayes.types.errors import InvalidRequestError, NotFoundError
from relevance_bayes.types.webhooks import EVENT_TYPES, EventType
from tests.storage import samples


def hook(
    open_uow: OpenUnitOfWork, *, owner: str = samples.OWNER, events: tuple[EventType, ...] = EVENT_TYPES
) -> Webhook:
    webhook = Webhook(uuid7(), owner, "https://hooks.example/here?key=1", events, samples.AT, "the 😀 one")
    with open_uow() as uow:
        uow.webhooks.add(webhook, new_secret())
    return webhook


def test_a_secret_is_its_owners_and_goes_with_its_webhook(open_uow: OpenUnitOfWork) -> None:
    webhook, secret = Webhook(uuid7(), samples.OWNER, "https://hooks.example/", EVENT_TYPES, samples.AT), new_secret()
    with open_uow() as uow:
        uow.webhooks.add(webhook, secret)
        assert uow.webhooks.secret(samples.OWNER, webhook.id) == secret
        with pytest.raises(NotFoundError):
            uow.webhooks.secret(samples.STRANGER, webhook.id)
        uow.webhooks.remove(samples.OWNER, webhook.id)
        with pytest.raises(NotFoundError):
            uow.webhooks.secret(samples.OWNER, webhook.id)


def test_a_webhook_comes_back_as_it_was_added(open_uow: OpenUnitOfWork) -> None:
    webhook = hook(open_uow, events=("training_job.failed",))
    with open_uow() as uow:
        assert uow.webhooks.get(samples.OWNER, webhook.id) == webhook


def test_others_webhooks_are_not_found(open_uow: OpenUnitOfWork) -> None:
    webhook = hook(open_uow)
    with open_uow() as uow:
        for refused in (uow.webhooks.get, uow.webhooks.remove, uow.webhooks.change):
            with pytest.raises(NotFoundError):
                refused(samples.STRANGER, webhook.id)
        with pytest.raises(NotFoundError):
            uow.deliveries.page(samples.STRANGER, webhook.id, PageRequest(9))
        with pytest.raises(NotFoundError):
            uow.deliveries.redeliver(samples.STRANGER, webhook.id, uuid4())
        assert uow.webhooks.page(samples.STRANGER, PageRequest(9)).items == ()
        assert uow.webhooks.get(samples.OWNER, webhook.id) == webhook


def test_webhooks_are_listed_newest_first_page_by_page(open_uow: OpenUnitOfWork) -> None:
    webhooks = [hook(open_uow) for _ in range(3)]
    with open_uow() as uow:
        first = uow.webhooks.page(samples.OWNER, PageRequest(2))
        second = uow.webhooks.page(samples.OWNER, PageRequest(2, first.next))
        with pytest.raises(InvalidRequestError):
            uow.webhooks.page(samples.OWNER, PageRequest(2, "elsewhere"))
    assert [*first.items, *second.items] == webhooks[::-1]
    assert second.next is None


def test_an_owner_has_so_many_webhooks_and_no_more(open_uow: OpenUnitOfWork) -> None:
    webhooks = [hook(open_uow) for _ in range(MAX_WEBHOOKS)]
    with pytest.raises(ConflictError):
        hook(open_uow)
    hook(open_uow, owner=samples.STRANGER)
    with open_uow() as uow:
        uow.webhooks.remove(samples.OWNER, webhooks[3].id)
    hook(open_uow)


def test_what_is_said_is_changed_and_the_rest_stays(open_uow: OpenUnitOfWork) -> None:
    webhook = hook(open_uow)
    with open_uow() as uow:
        assert uow.webhooks.change(samples.OWNER, webhook.id) == webhook
        webhook = replace(webhook, enabled=False)
        assert uow.webhooks.change(samples.OWNER, webhook.id, enabled=False) == webhook
        webhook = replace(webhook, url="https://other.example/", events=("training_job.cancelled",))
        assert uow.webhooks.change(samples.OWNER, webhook.id, url=webhook.url, events=webhook.events) == webhook
    with open_uow() as uow:
        assert uow.webhooks.get(samples.OWNER, webhook.id) == webhook


def test_a_removed_webhook_is_gone_at_once_and_its_deliveries_piece_by_piece(
    open_uow: OpenUnitOfWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.storage.repositories.webhooks.DELIVERIES_AT_ONCE", 2)
    removed, kept = hook(open_uow), hook(open_uow)
    for _ in range(3):
        cancelled(open_uow)
    with open_uow() as uow:
        assert not uow.webhooks.remove_expired()
        uow.webhooks.remove(samples.OWNER, removed.id)
        for refused in (uow.webhooks.get, uow.webhooks.remove, uow.webhooks.change):
            with pytest.raises(NotFoundError):
                refused(samples.OWNER, removed.id)
        assert uow.webhooks.page(samples.OWNER, PageRequest(9)).items == (kept,)
    swept = []
    for _ in range(3):
        with open_uow() as uow:
            swept.append(uow.webhooks.remove_expired())
    assert swept == [True, True, False]
    with open_uow() as uow:
        assert len(uow.deliveries.page(samples.OWNER, kept.id, PageRequest(9)).items) == 3
        uow.webhooks.add(removed, new_secret())  # nothing is left of it, not even its id
        assert uow.deliveries.page(samples.OWNER, removed.id, PageRequest(9)).items == ()


def cancelled(open_uow: OpenUnitOfWork) -> UUID:
    job_id = samples.queued_job(open_uow)
    with open_uow() as uow:
        uow.jobs.request_cancel(samples.OWNER, job_id)
    return job_id
