"""Notifications of jobs, on both databases."""

from collections.abc import Iterator
from contextlib import suppress
from threading import Event, Thread
from uuid import UUID

import pytest
from sqlalchemy import Engine, text

from app.database.engine import make_engine
from app.database.notifier import JOBS, MODELS, Listener, SqlNotifier
from app.database.transaction import OpenTransaction
from app.errors import UnavailableError
from app.jobs.records import changes_id
from app.jobs.repository import JobRepository
from app.registry.repository import ModelRepository
from app.tasks.service import finish_training
from tests import samples

only_on_postgresql = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


@pytest.fixture
def listener(engine: Engine) -> Iterator[Listener]:
    with SqlNotifier(engine).open() as listener:
        yield listener


def received(listener: Listener, *, within: int = 10) -> frozenset[UUID] | None:
    """The first that is no silence."""
    for _ in range(within):
        if (jobs := listener.receive()) is None or jobs:
            return jobs
    raise AssertionError("nothing was heard")


def concerns(jobs: frozenset[UUID] | None, job_id: UUID) -> bool:
    return jobs is None or job_id in jobs


def test_nothing_is_received_where_nothing_happens(listener: Listener) -> None:
    assert listener.receive() == frozenset()


def test_every_event_is_received(transaction: OpenTransaction, listener: Listener) -> None:
    job_id = samples.queued_job(transaction)
    assert concerns(received(listener), job_id)
    with transaction() as tx:
        assert JobRepository(tx).claim(job_id) is not None
    assert concerns(received(listener), job_id)
    with transaction() as tx:
        assert JobRepository(tx).progress(job_id, 1, samples.PROGRESS)
    assert concerns(received(listener), job_id)
    with transaction() as tx:
        assert finish_training(tx, job_id, 1, samples.new_version()) is not None
    assert concerns(received(listener), job_id)
    assert listener.receive() == frozenset()


def test_what_is_rolled_back_is_not_received(transaction: OpenTransaction, listener: Listener) -> None:
    job_id = samples.queued_job(transaction)
    received(listener)
    with suppress(KeyError), transaction() as tx:
        assert JobRepository(tx).claim(job_id) is not None
        raise KeyError
    assert listener.receive() == frozenset()


def test_what_happens_between_two_calls_is_received(transaction: OpenTransaction, listener: Listener) -> None:
    first, second = samples.queued_job(transaction), samples.queued_job(transaction)
    jobs: set[UUID] = set()
    while (more := listener.receive()) is None or more:
        jobs |= more or {first, second}
    assert jobs - {changes_id(samples.OWNER)} == {first, second}


def test_it_is_no_connection_of_the_pool(engine: Engine, listener: Listener) -> None:
    assert listener.receive() == frozenset()
    assert engine.pool.status().partition("Current Checked out connections: ")[2] in {"", "0"}


@only_on_postgresql
def test_notifications_of_others_may_concern_any_job(engine: Engine, listener: Listener) -> None:
    with engine.begin() as connection:
        connection.execute(text(f"NOTIFY {JOBS}, 'look'"))
    assert received(listener) is None


@only_on_postgresql
def test_a_connection_that_was_ended_is_stated(engine: Engine, listener: Listener) -> None:
    ended = Event()

    def end() -> None:
        with engine.begin() as connection:
            connection.execute(
                text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
            )
        ended.set()

    Thread(target=end).start()
    with pytest.raises(UnavailableError):
        received(listener, within=100)
    assert ended.wait(10)


def test_a_database_that_is_away_is_stated() -> None:
    with pytest.raises(UnavailableError), SqlNotifier(make_engine("sqlite:////nowhere/at/all.db")).open():
        pass


def test_models_are_notified_when_a_version_is_recorded_or_removed(
    transaction: OpenTransaction, engine: Engine
) -> None:
    with SqlNotifier(engine, MODELS).open() as listener:
        samples.stored_version(transaction)
        samples.stored_version(transaction)
        first = received(listener)
        assert first is None or len(first) == 1
        while listener.receive() != frozenset():
            pass
        with transaction() as tx:
            ModelRepository(tx).delete_version(samples.OWNER, "prices", 1)
        assert received(listener) == first
        with transaction() as tx:
            ModelRepository(tx).delete(samples.OWNER, "prices")
        assert received(listener) == first


@only_on_postgresql
def test_what_happens_to_jobs_alone_does_not_wake_those_who_hear_of_models(
    transaction: OpenTransaction, engine: Engine
) -> None:
    with SqlNotifier(engine, MODELS).open() as listener:
        samples.queued_job(transaction)
        assert listener.receive() == frozenset()


def test_events_are_counted_by_job(transaction: OpenTransaction) -> None:
    one, other = samples.queued_job(transaction), samples.running_job(transaction)
    with transaction() as tx:
        assert JobRepository(tx).event_counts([one, other, UUID(int=0)]) == {one: 1, other: 2}
        assert JobRepository(tx).event_counts([]) == {}
