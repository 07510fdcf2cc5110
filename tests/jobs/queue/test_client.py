from datetime import UTC, datetime, timedelta
from typing import get_args
from uuid import UUID, uuid4

import pytest
from dbos import DBOS, DBOSClient
from sqlalchemy import Engine, inspect, text

from app import services
from app.database.engine import make_engine
from app.database.transaction import OpenTransaction, open_transactions
from app.errors import ConflictError, UnavailableError
from app.jobs.queue.client import MAX_AT_ONCE, Control, EndedEntries, Submitter, is_migrated, make_client, migrate
from app.jobs.repository import JobRepository
from app.jobs.statistics_repository import WorkerRepository
from app.services import Retention
from app.webhooks.repository import AttemptRepository
from relevance_bayes.records.jobs import JobKind
from relevance_bayes.records.webhooks import Attempt
from tests import postgres, samples
from tests.webhooks.test_repository import hook

UNREACHABLE = "postgresql+psycopg://relevance@127.0.0.1:1/relevance"


class Changed(Exception):
    """Somebody's mind."""


def heartbeat_and_submit(transaction: OpenTransaction, job: UUID, *, changed: bool = False) -> None:
    with transaction() as tx:
        WorkerRepository(tx).record_heartbeat("here")
        tx.queue.submit(job, owner="ada")
        if changed:
            raise Changed


def test_an_entry_is_committed_with_everything_else(transaction: OpenTransaction, control: Control) -> None:
    job = uuid4()
    heartbeat_and_submit(transaction, job)
    assert control.state(job) == "waiting"
    with transaction() as tx:
        assert WorkerRepository(tx).alive(within=60) == ("here",)


def test_a_transaction_that_is_rolled_back_leaves_neither(transaction: OpenTransaction, control: Control) -> None:
    job = uuid4()
    with pytest.raises(Changed):
        heartbeat_and_submit(transaction, job, changed=True)
    assert control.state(job) == "unknown"
    with transaction() as tx:
        assert WorkerRepository(tx).alive(within=60) == ()


def test_an_id_is_submitted_once_and_the_second_time_takes_all_back(
    transaction: OpenTransaction, control: Control
) -> None:
    job = uuid4()
    with transaction() as tx:
        tx.queue.submit(job, owner="ada")
    with pytest.raises(ConflictError):
        heartbeat_and_submit(transaction, job)
    assert control.state(job) == "waiting"
    with transaction() as tx:
        assert WorkerRepository(tx).alive(within=60) == ()


def test_an_entry_has_its_owners_partition_and_a_priority(transaction: OpenTransaction, client: DBOSClient) -> None:
    job = uuid4()
    with transaction() as tx:
        tx.queue.submit(job, owner="ada")
    (entry,) = client.list_workflows(workflow_ids=[str(job)])
    assert entry.queue_name == "training"
    assert entry.queue_partition_key == "ada"
    assert entry.priority == 101  # unset would be 0, before everybody
    assert entry.workflow_timeout_ms is None  # the engine counts by the clock on the wall, the worker running time
    assert entry.input == {"args": (str(job),), "kwargs": {}}


@pytest.mark.parametrize(("priority", "rank"), [(100, 1), (1, 100), (0, 101), (-100, 201)])
def test_greater_priority_is_a_lower_rank_and_none_is_unset(
    transaction: OpenTransaction, client: DBOSClient, priority: int, rank: int
) -> None:
    job = uuid4()
    with transaction() as tx:
        tx.queue.submit(job, owner="ada", priority=priority)
    (entry,) = client.list_workflows(workflow_ids=[str(job)])
    assert entry.priority == rank


def test_a_cancelled_entry_has_ended_and_may_be_cancelled_again(transaction: OpenTransaction, control: Control) -> None:
    job = uuid4()
    with transaction() as tx:
        tx.queue.submit(job, owner="ada")
    control.cancel(job)
    control.cancel(job)
    assert control.state(job) == "ended"
    assert control.endings([job]) == {job: "cancelled"}


def test_endings_name_those_that_ended_and_those_nobody_knows(transaction: OpenTransaction, control: Control) -> None:
    waiting, stranger = uuid4(), uuid4()
    with transaction() as tx:
        tx.queue.submit(waiting, owner="ada")
    assert control.endings([waiting, stranger]) == {stranger: "unknown"}
    assert control.endings([]) == {}


def test_endings_are_requested_in_portions(transaction: OpenTransaction, control: Control) -> None:
    strangers = [uuid4() for _ in range(MAX_AT_ONCE + 1)]
    with transaction() as tx:
        tx.queue.submit(strangers[-1], owner="ada")
    assert set(control.endings(strangers)) == set(strangers[:-1])


def test_nobody_holds_what_only_waits(transaction: OpenTransaction, control: Control) -> None:
    with transaction() as tx:
        tx.queue.submit(uuid4(), owner="ada")
    assert control.holders() == frozenset()


def test_migrations_may_run_twice(empty_database_url: str) -> None:
    engine = make_engine(empty_database_url)
    client = make_client(engine)
    assert not is_migrated(client)
    migrate(engine)
    migrate(engine)
    assert is_migrated(client)
    engine.dispose()


def test_the_migration_connects_with_the_password_of_the_engine(
    postgres_server: postgres.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls: list[str] = []
    monkeypatch.setattr(DBOS, "migrate", urls.append)
    url = postgres_server.url("postgres").set(password="secret").render_as_string(hide_password=False)
    engine = make_engine(url)
    migrate(engine)
    assert urls == [f"{url}?application_name=relevance+command"]
    engine.dispose()


def test_before_the_migration_submitting_states_that_the_service_is_not_ready(empty_database_url: str) -> None:
    engine = make_engine(empty_database_url)
    transaction = open_transactions(engine, Submitter(make_client(engine)))
    with pytest.raises(UnavailableError), transaction() as tx:
        tx.queue.submit(uuid4(), owner="ada")
    engine.dispose()


def test_a_database_that_is_away_is_no_reason_to_wait() -> None:
    engine: Engine = make_engine(UNREACHABLE)
    control = Control(make_client(engine))
    with pytest.raises(UnavailableError):
        control.cancel(uuid4())
    with pytest.raises(UnavailableError):
        control.holders()
    engine.dispose()


DAY = 86_400.0
AN_HOUR_LATER, TWO_DAYS_LATER = timedelta(hours=1), timedelta(days=2)


@pytest.fixture
def entries(client: DBOSClient) -> EndedEntries:
    return EndedEntries(client)


def remove_expired(transaction: OpenTransaction, entries: EndedEntries, after: timedelta) -> None:
    """As a worker does, so much later, where a day is kept."""
    Retention(transaction, entries, lambda: datetime.now(UTC) + after, DAY, DAY, DAY, DAY).remove_expired()


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
    """The number of rows that the engine has of these, in all of its tables."""
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


@pytest.mark.thorough
def test_entries_that_ended_long_ago_are_removed_with_all_that_belongs_to_them(
    engine: Engine,
    transaction: OpenTransaction,
    control: Control,
    entries: EndedEntries,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services, "ENTRIES_AT_ONCE", 2)
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
    monkeypatch.setattr(services, "ENTRIES_AT_ONCE", 1)
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
        ((entry, _),) = AttemptRepository(tx).overdue(seconds=-1.0, limit=9)
    stranger = uuid4()
    with transaction() as tx:
        tx.queue.deliver(stranger, webhook_id=UUID(webhook.id), delay=0.0)
    for one in (entry, stranger):
        control.cancel(one)
    remove_expired(transaction, entries, TWO_DAYS_LATER)
    assert control.endings([entry, stranger]) == {entry: "cancelled", stranger: "unknown"}
    with transaction() as tx:
        AttemptRepository(tx).record(entry, Attempt(samples.AT, 0.1, status=204), retry_in=None)
    remove_expired(transaction, entries, TWO_DAYS_LATER)
    assert control.endings([entry]) == {entry: "unknown"}
