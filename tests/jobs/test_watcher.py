"""Who waits for a job is woken when something happens to it, and nothing runs while nobody waits."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from threading import Event as ThreadEvent
from uuid import UUID

import pytest
from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from app.database.notifier import Listener
from app.errors import UnavailableError
from app.identity import uuid7
from app.jobs.tables import JobRow
from app.jobs.waiter import JobWatcher
from app.registry.trainings import TRAINING
from relevance_bayes.tasks.supervised.request import SupervisedRequest
from tests.small_database import SmallDatabase
from tests.small_models import small_version
from tests.small_tables import NOW
from tests.waiting import until

AT_ONCE = 5.0
"""Seconds, of which a busy machine may need some; a client that waits for a check below would wait for minutes."""

NEVER = 0.2
ANY: frozenset[UUID] | None = None


@dataclass
class Reported:
    """A listener to what a test sends; `broken`: not now, `late`: not before.

    Counts how often it was opened, is open, and was requested.
    """

    given: SimpleQueue[frozenset[UUID] | None] = field(default_factory=SimpleQueue)
    broken: bool = False
    late: ThreadEvent | None = None
    attempts: int = 0
    opened: int = 0
    open_now: int = 0
    turns: int = 0

    @contextmanager
    def open(self) -> Iterator[Listener]:
        self.attempts += 1
        if self.broken:
            raise UnavailableError("Not now.")
        if self.late is not None:
            assert self.late.wait(AT_ONCE)
        self.opened += 1
        self.open_now += 1
        try:
            yield self
        finally:
            self.open_now -= 1

    def receive(self) -> frozenset[UUID] | None:
        self.turns += 1
        if self.broken:
            raise UnavailableError("Not any more.")
        try:
            return self.given.get(timeout=0.01)
        except Empty:
            return frozenset()


@pytest.fixture
def reported() -> Reported:
    return Reported()


@pytest.fixture
def watcher(stored: SmallDatabase, reported: Reported) -> Iterator[JobWatcher]:
    watcher = JobWatcher(stored.transaction, reported, check=600.0)
    yield watcher
    watcher.close()


def happen(stored: SmallDatabase, job_id: UUID) -> None:
    """Have a job with one more event."""
    with Session(stored.engine) as session, session.begin():
        more = update(JobRow).where(JobRow.id == job_id).values(events=JobRow.events + 1)
        is_there = session.execute(more.returning(JobRow.id)).first() is not None
    if not is_there:
        stored.put_job(
            replace(
                TRAINING.queued("ada", SupervisedRequest(uuid7(), "y"), small_version().report.plan, at=NOW), id=job_id
            )
        )


@contextmanager
def waiting(watcher: JobWatcher, *jobs: UUID) -> Iterator[list[ThreadEvent]]:
    """Somebody waits for each of these."""
    bells = [ThreadEvent() for _ in jobs]
    with ExitStack() as stack:
        for job, change_event in zip(jobs, bells, strict=True):
            stack.enter_context(watcher.watching(job, change_event.set))
        yield bells


@contextmanager
def settled(reported: Reported, watcher: JobWatcher, *jobs: UUID) -> Iterator[list[ThreadEvent]]:
    """The same, and each has been looked at: who is woken from now on is woken by notifications."""
    with waiting(watcher, *jobs) as bells:
        reported.given.put(ANY)
        until(reported.given.empty)
        turn = reported.turns
        until(lambda: reported.turns > turn)  # who hears again has looked
        for change_event in bells:
            change_event.clear()
        yield bells


def test_who_waits_for_a_job_is_woken_when_it_is_named_and_nobody_else(reported: Reported, watcher: JobWatcher) -> None:
    one, other = uuid7(), uuid7()
    with settled(reported, watcher, one, one, other) as (first, second, third):
        reported.given.put(frozenset({one}))
        assert first.wait(AT_ONCE)
        assert second.wait(AT_ONCE)
        assert not third.wait(NEVER)


def test_where_it_may_be_any_those_are_woken_whose_jobs_have_more_events(
    stored: SmallDatabase, reported: Reported, watcher: JobWatcher
) -> None:
    one, other = uuid7(), uuid7()
    happen(stored, one)
    happen(stored, other)
    with settled(reported, watcher, one, other) as (first, second):
        happen(stored, other)
        reported.given.put(ANY)
        assert second.wait(AT_ONCE)
        assert not first.wait(NEVER)


def test_a_job_that_is_removed_wakes_those_who_wait_for_it(
    stored: SmallDatabase, reported: Reported, watcher: JobWatcher
) -> None:
    job = uuid7()
    happen(stored, job)
    with settled(reported, watcher, job) as (change_event,):
        with Session(stored.engine) as session, session.begin():
            session.execute(delete(JobRow))
        reported.given.put(ANY)
        assert change_event.wait(AT_ONCE)


def test_what_happened_while_nobody_could_listen_is_found_by_a_look(
    stored: SmallDatabase, reported: Reported, watcher: JobWatcher
) -> None:
    job = uuid7()
    with settled(reported, watcher, job) as (change_event,):
        reported.broken = True
        until(lambda: reported.open_now == 0)
        happen(stored, job)
        reported.broken = False
        assert change_event.wait(AT_ONCE)
        until(lambda: reported.open_now == 1)
    assert reported.opened == 2


def test_what_happens_before_the_connection_listens_is_found_by_a_look(
    stored: SmallDatabase, reported: Reported, watcher: JobWatcher
) -> None:
    reported.late = ThreadEvent()
    job = uuid7()
    with waiting(watcher, job) as (change_event,):
        happen(stored, job)
        assert not change_event.wait(NEVER)
        reported.late.set()
        assert change_event.wait(AT_ONCE)


def test_jobs_are_looked_at_even_where_nobody_can_listen(
    stored: SmallDatabase, reported: Reported, watcher: JobWatcher
) -> None:
    reported.broken = True
    job = uuid7()
    with waiting(watcher, job) as (change_event,):
        assert change_event.wait(AT_ONCE)
        change_event.clear()
        happen(stored, job)
        assert change_event.wait(AT_ONCE)
    assert reported.opened == 0


def test_a_message_that_is_lost_costs_seconds_alone(stored: SmallDatabase, reported: Reported) -> None:
    job = uuid7()
    watcher = JobWatcher(stored.transaction, reported, check=0.05)
    with settled(reported, watcher, job) as (change_event,):
        happen(stored, job)
        assert change_event.wait(AT_ONCE)
    watcher.close()


def test_a_database_that_is_away_ends_nothing(stored: SmallDatabase, reported: Reported, watcher: JobWatcher) -> None:
    job = uuid7()
    with settled(reported, watcher, job) as (change_event,):
        stored.reachable = False
        reported.given.put(ANY)
        until(lambda: reported.open_now == 0)
        happen(stored, job)
        stored.reachable = True
        assert change_event.wait(AT_ONCE)


def test_without_anybody_who_waits_nothing_is_requested_and_no_connection_held(
    stored: SmallDatabase, reported: Reported
) -> None:
    watcher = JobWatcher(stored.transaction, reported, check=0.01, linger=0.1)
    time.sleep(0.05)
    assert (reported.opened, stored.opened) == (0, 0)
    for turn in (1, 2):
        with settled(reported, watcher, uuid7()):
            assert reported.opened == turn
        until(lambda: reported.open_now == 0)
        looks = stored.opened
        time.sleep(0.1)
        assert stored.opened == looks
    watcher.close()


def test_the_next_who_waits_soon_finds_the_connection_open(reported: Reported, watcher: JobWatcher) -> None:
    for _ in range(3):
        with settled(reported, watcher, uuid7()):
            pass
    assert reported.opened == 1


def test_at_the_end_everybody_is_woken_and_can_see_why(reported: Reported, watcher: JobWatcher) -> None:
    with settled(reported, watcher, uuid7(), uuid7()) as bells:
        before = watcher.is_stopped
        watcher.stop()
        assert all(change_event.is_set() for change_event in bells)
        assert (before, watcher.is_stopped) == (False, True)
        until(lambda: reported.open_now == 0)
    with waiting(watcher, uuid7()):
        assert reported.open_now == 0


def test_closing_wakes_everybody_and_ends_the_thread(reported: Reported, watcher: JobWatcher) -> None:
    before = set(threading.enumerate())
    with settled(reported, watcher, uuid7()) as (change_event,):
        (thread,) = set(threading.enumerate()) - before
        watcher.close()
        assert change_event.is_set()
        assert watcher.is_stopped
        assert not thread.is_alive()
        assert reported.open_now == 0


def test_an_outage_is_one_warning_and_listening_is_retried_after_pauses(
    reported: Reported, watcher: JobWatcher, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING, "app.jobs.waiter")
    monkeypatch.setattr("app.jobs.waiter.PAUSES", (0.01, 0.01, 600.0))
    reported.broken = True
    with waiting(watcher, uuid7()):
        until(lambda: reported.attempts == 3)
        time.sleep(0.05)
        assert reported.attempts == 3
        began = time.monotonic()
        watcher.close()  # does not wait for the end of the pause
        assert time.monotonic() - began < 1.0
    assert [record.getMessage() for record in caplog.records] == ["notifications of jobs can't be received"]
