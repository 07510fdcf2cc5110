"""When the queues are polled: what ends a wait, and what is listened to."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread
from uuid import uuid4

import pytest
from sqlalchemy import Engine as Database
from sqlalchemy import text

from app.database.notifier import QUEUES, SqlNotifier
from app.database.transaction import OpenTransaction
from app.jobs.queue.client import Control
from app.jobs.queue.dbos_internals import QUEUE, SCORING_QUEUE, WEBHOOK_QUEUE, EntryListener, PollWaits

LONG = 60.0
only_on_postgresql = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


def waits_for(waits: PollWaits, queue: str) -> Thread:
    thread = Thread(target=waits.wait, args=(queue, LONG), daemon=True)
    thread.start()
    return thread


def test_a_wake_ends_the_wait_of_its_queue_alone() -> None:
    waits = PollWaits()
    training, scoring = waits_for(waits, QUEUE), waits_for(waits, SCORING_QUEUE)
    waits.wake([QUEUE])
    training.join(LONG / 2)
    assert not training.is_alive()
    assert scoring.is_alive()
    waits.close()
    scoring.join(LONG / 2)
    assert not scoring.is_alive()


def test_a_wake_during_a_poll_ends_the_next_wait_once() -> None:
    waits = PollWaits()
    waits.wake([QUEUE])
    waits.wait(QUEUE, None)
    again = waits_for(waits, QUEUE)
    again.join(0.05)
    assert again.is_alive()
    waits.close()


def test_a_claimed_entry_counts_until_it_ends_and_its_start_and_end_end_a_wait() -> None:
    waits = PollWaits()
    waits.claim(QUEUE, "ada", ["a", "b"])
    waits.claim(WEBHOOK_QUEUE, "hook", ["c"])
    assert (waits.taken(QUEUE), waits.taken(WEBHOOK_QUEUE)) == ({"ada": 2}, {"hook": 1})
    waits.start("a", QUEUE, "ada")
    waits.wait(QUEUE, None)
    assert waits.taken(QUEUE) == {"ada": 2}
    waits.end(QUEUE, "ada")
    waits.wait(QUEUE, None)
    assert (waits.taken(QUEUE), waits.taken(WEBHOOK_QUEUE)) == ({"ada": 1}, {"hook": 1})


def test_an_entry_that_does_not_start_leaves_its_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.jobs.queue.dbos_internals.CLAIM_SECONDS", 0.0)
    waits = PollWaits()
    waits.claim(QUEUE, "ada", ["a"])
    assert waits.taken(QUEUE) == {}


@contextmanager
def listening(engine: Database, control: Control) -> Iterator[SimpleQueue[frozenset[str]]]:
    """The queues of each wake, without any where nothing is new; the first one is that of the beginning."""
    woken: SimpleQueue[frozenset[str]] = SimpleQueue()

    def wake(queues: Collection[str]) -> None:
        woken.put(frozenset(queues))

    listener = EntryListener(SqlNotifier(engine, QUEUES, 0.02), control.queues_with_entries, wake)
    listener.start()
    try:
        yield woken
    finally:
        listener.stop()


def test_what_was_queued_before_it_listens_is_polled_for(
    engine: Database, control: Control, transaction: OpenTransaction
) -> None:
    with transaction() as tx:
        tx.queue.submit(uuid4(), owner="ada", kind="evaluation")
    with listening(engine, control) as woken:
        assert woken.get(timeout=LONG) == {SCORING_QUEUE}


def test_a_new_entry_wakes_its_queue(engine: Database, control: Control, transaction: OpenTransaction) -> None:
    with listening(engine, control) as woken:
        assert woken.get(timeout=LONG) == set()
        with transaction() as tx:
            tx.queue.submit(uuid4(), owner="ada")
        assert woken.get(timeout=LONG) == {QUEUE}
        with transaction() as tx:
            tx.queue.deliver(uuid4(), webhook_id=uuid4(), delay=0.0)
        assert WEBHOOK_QUEUE in woken.get(timeout=LONG)


@only_on_postgresql
def test_recovery_wakes_all_queues(engine: Database, control: Control) -> None:
    with listening(engine, control) as woken:
        assert woken.get(timeout=LONG) == set()
        control.recover(["nobody:3"])
        seen: set[str] = set()
        while seen != {QUEUE, SCORING_QUEUE, WEBHOOK_QUEUE}:
            seen |= woken.get(timeout=LONG)


@only_on_postgresql
def test_a_notification_of_another_release_may_concern_any_queue(
    engine: Database, control: Control, transaction: OpenTransaction
) -> None:
    with transaction() as tx:
        tx.queue.submit(uuid4(), owner="ada")
    with listening(engine, control) as woken:
        assert woken.get(timeout=LONG) == {QUEUE}
        with engine.begin() as connection:
            connection.execute(text(f"NOTIFY {QUEUES}, '{uuid4()}'"))
        assert woken.get(timeout=LONG) == {QUEUE}


@only_on_postgresql
def test_a_lost_connection_is_replaced_and_what_was_missed_is_polled_for(
    engine: Database, control: Control, transaction: OpenTransaction
) -> None:
    ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
    with listening(engine, control) as woken:
        assert woken.get(timeout=LONG) == set()
        with engine.begin() as connection:
            assert connection.scalar(text(ended)) == 1
        with transaction() as tx:
            tx.queue.submit(uuid4(), owner="ada")
        while QUEUE not in woken.get(timeout=LONG):
            pass
        with transaction() as tx:
            tx.queue.submit(uuid4(), owner="ada", kind="evaluation")
        while SCORING_QUEUE not in woken.get(timeout=LONG):
            pass
