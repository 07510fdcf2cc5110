"""What the engine keeps of what has ended goes with its age, and nothing that is still asked for."""

from datetime import UTC, datetime, timedelta
from typing import get_args
from uuid import UUID, uuid4

import pytest
from dbos import DBOSClient
from sqlalchemy import Engine, inspect, text

from app import retention
from app.database.transaction import OpenTransaction
from app.jobs.queue.client import Control
from app.jobs.queue.entry_retention import EndedEntries
from app.jobs.repository import JobRepository
from app.retention import Retention
from app.webhooks.delivery_repository import DeliveryRepository
from relevance_bayes.types.jobs import JobKind
from relevance_bayes.types.webhooks import Attempt
from tests import samples
from tests.webhooks.test_repository import hook

DAY = 86_400.0
AN_HOUR_LATER, TWO_DAYS_LATER = timedelta(hours=1), timedelta(days=2)


@pytest.fixture
def entries(client: DBOSClient) -> EndedEntries:
    return EndedEntries(client)


def remove_expired(transaction: OpenTransaction, entries: EndedEntries, after: timedelta) -> None:
    """As a worker does, so much later, where a day is kept."""
    Retention(transaction, entries, lambda: datetime.now(UTC) + after, DAY, DAY).remove_expired()


def queued(transaction: OpenTransaction, kind: JobKind = "training") -> UUID:
    """A job with its entry, running."""
    job = samples.running_job(transaction)
    with transaction() as tx:
        tx.queue.submit(job, owner=samples.OWNER, kind=kind)
    return job


def failed(transaction: OpenTransaction, job: UUID) -> None:
    with transaction() as tx:
        JobRepository(tx).fail(job, 1, samples.PROBLEM)


def rows(engine: Engine, *ids: UUID) -> int:
    """How many rows the engine has of these, in all of its tables."""
    found, schema = 0, "dbos" if engine.dialect.name == "postgresql" else None
    reported = inspect(engine)
    with engine.connect() as connection:
        for table in reported.get_table_names(schema=schema):
            if "workflow_uuid" in {column["name"] for column in reported.get_columns(table, schema=schema)}:
                name = table if schema is None else f"{schema}.{table}"
                for one in ids:
                    count = text(f"SELECT count(*) FROM {name} WHERE workflow_uuid = :id")
                    found += connection.execute(count, {"id": str(one)}).scalar_one()
    return found


def test_entries_that_ended_long_ago_are_removed_with_all_that_belongs_to_them(
    engine: Engine,
    transaction: OpenTransaction,
    control: Control,
    entries: EndedEntries,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retention, "ENTRIES_AT_ONCE", 2)
    old, waiting = [queued(transaction, kind) for kind in 3 * get_args(JobKind)], queued(transaction)
    for job in old:
        control.cancel(job)
        failed(transaction, job)
    assert rows(engine, *old) >= len(old)
    remove_expired(transaction, entries, AN_HOUR_LATER)
    assert set(control.endings(old).values()) == {"cancelled"}
    remove_expired(transaction, entries, TWO_DAYS_LATER)
    assert rows(engine, *old) == 0
    assert control.state(waiting) == "waiting"
    with transaction() as tx:
        assert {JobRepository(tx).get(samples.OWNER, job).state for job in old} == {"failed"}


def test_an_entry_stays_until_it_is_known_what_became_of_its_job(
    transaction: OpenTransaction, control: Control, entries: EndedEntries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "ENTRIES_AT_ONCE", 1)
    lost, ended = queued(transaction), queued(transaction)
    for job in (lost, ended):
        control.cancel(job)
    failed(transaction, ended)
    remove_expired(transaction, entries, TWO_DAYS_LATER)
    assert control.endings([lost, ended]) == {lost: "cancelled", ended: "unknown"}
    failed(transaction, lost)
    remove_expired(transaction, entries, TWO_DAYS_LATER)
    assert control.endings([lost]) == {lost: "unknown"}


def test_an_attempts_entry_stays_until_the_attempt_is_recorded(
    transaction: OpenTransaction, control: Control, entries: EndedEntries
) -> None:
    webhook = hook(transaction)
    failed(transaction, queued(transaction))
    with transaction() as tx:
        ((entry, _),) = DeliveryRepository(tx).overdue(seconds=-1.0, limit=9)
    stranger = uuid4()
    with transaction() as tx:
        tx.queue.deliver(stranger, webhook_id=webhook.id, delay=0.0)
    for one in (entry, stranger):
        control.cancel(one)
    remove_expired(transaction, entries, TWO_DAYS_LATER)
    assert control.endings([entry, stranger]) == {entry: "cancelled", stranger: "unknown"}
    with transaction() as tx:
        DeliveryRepository(tx).record(entry, Attempt(samples.AT, 0.1, status=204), retry_in=None)
    remove_expired(transaction, entries, TWO_DAYS_LATER)
    assert control.endings([entry]) == {entry: "unknown"}
