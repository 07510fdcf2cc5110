from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from threading import Event

import pytest
from sqlalchemy import Engine

from app.database.transaction import OpenTransaction, Transaction, open_transactions
from app.errors import UnavailableError
from app.jobs.statistics_repository import WorkerRepository
from app.jobs.worker.worker import HEARTBEATS_PER_IDLE_CHECK, Heartbeat, HeartbeatStreak
from tests import samples
from tests.doubles.queue import ListedQueue
from tests.doubles.recovery import FixedRecovery
from tests.waiting import until

HERE = "here:1"


def beaten(*times: float, wall: Callable[[float], float] = lambda monotonic: monotonic) -> HeartbeatStreak:
    """A streak after beats at these times; beats are due each 2 s, and silence is 8 s."""
    streak = HeartbeatStreak(interval=2.0, limit=8.0)
    for time in times:
        streak.record((time, wall(time)))
    return streak


def test_a_worker_may_judge_once_it_has_sent_heartbeats_for_the_limit_and_two_more() -> None:
    assert not beaten().is_reliable
    assert not beaten(100.0).is_reliable
    assert not beaten(*range(100, 111)).is_reliable
    assert beaten(*range(100, 113)).is_reliable


def test_a_gap_takes_the_right_to_judge_until_it_is_earned_again() -> None:
    before = range(100, 113)
    assert not beaten(*before, 117.0).is_reliable
    assert not beaten(*before, *range(117, 128)).is_reliable
    assert beaten(*before, *range(117, 130)).is_reliable


def test_a_heartbeat_that_comes_a_little_late_is_no_gap() -> None:
    assert beaten(*range(100, 113, 2), 115.9).is_reliable


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_a_jump_of_the_clock_on_the_wall_is_a_gap(jump: float) -> None:
    assert not beaten(*range(100, 114), wall=lambda time: time + (jump if time > 112 else 0.0)).is_reliable


@dataclass
class Gate:
    """Transactions, unless it is closed."""

    transaction: OpenTransaction
    is_closed: bool = False
    attempts: int = 0

    def __call__(self) -> AbstractContextManager[Transaction]:
        if self.is_closed:
            self.attempts += 1
            raise UnavailableError("The database is away.")
        return self.transaction()


@dataclass
class Life:
    """A heart on a real database, beating fast."""

    subject: Heartbeat
    gate: Gate
    recovery: FixedRecovery
    broken: Event
    confirmed: list[None]

    def alive(self) -> tuple[str, ...]:
        with self.gate.transaction() as tx:
            return WorkerRepository(tx).alive(within=0.5)


@pytest.fixture
def life(engine: Engine) -> Life:
    gate, recovery, broken = Gate(open_transactions(engine, ListedQueue)), FixedRecovery(), Event()
    confirmed: list[None] = []
    subject = Heartbeat(
        gate,
        recovery,
        executor=HERE,
        interval=0.02,
        limit=0.5,
        broken=broken.set,
        on_heartbeat=lambda: confirmed.append(None),
    )
    return Life(subject, gate, recovery, broken, confirmed)


def test_a_worker_is_alive_as_soon_as_it_has_started_and_not_after_it_has_left(life: Life) -> None:
    life.subject.start()
    assert life.alive() == (HERE,)
    life.subject.stop()
    assert life.alive() == ()
    with life.gate() as tx:
        assert WorkerRepository(tx).last_heartbeats()[HERE].left
    assert not life.broken.is_set()


def test_a_worker_that_cannot_send_one_heartbeat_does_not_start(life: Life) -> None:
    life.gate.is_closed = True
    with pytest.raises(UnavailableError):
        life.subject.start()


def test_a_heartbeat_outlives_a_database_that_goes_away(life: Life) -> None:
    life.subject.start()
    life.gate.is_closed = True
    until(lambda: life.gate.attempts >= 3)
    until(lambda: life.alive() == ())
    life.gate.is_closed = False
    until(lambda: life.alive() == (HERE,))
    life.subject.stop()
    assert not life.broken.is_set()


def test_an_idle_heartbeat_looks_after_the_others_at_each_fifth_heartbeat_and_a_busy_one_at_each(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []

    def holders() -> frozenset[str]:
        looks.append(len(life.confirmed))
        return frozenset()

    monkeypatch.setattr(life.recovery, "holders", holders)
    life.subject.start()
    until(lambda: len(looks) >= 3)
    # The first heartbeat is that of the start, before the thread.
    assert looks[:3] == [2, 2 + HEARTBEATS_PER_IDLE_CHECK, 2 + 2 * HEARTBEATS_PER_IDLE_CHECK]
    samples.queued_job(life.gate.transaction)
    queued = len(life.confirmed)
    until(lambda: len(life.confirmed) >= queued + 2)  # the first of them may have read the database before
    begun = len(looks)
    until(lambda: len(looks) >= begun + 4)
    life.subject.stop()
    assert all(later - earlier == 1 for earlier, later in pairwise(looks[begun : begun + 4]))


def test_the_health_file_is_due_after_confirmed_heartbeats_alone(life: Life) -> None:
    life.subject.start()
    until(lambda: len(life.confirmed) >= 2)
    life.gate.is_closed = True
    until(lambda: life.gate.attempts >= 1)
    confirmed = len(life.confirmed)
    until(lambda: life.gate.attempts >= 4)
    assert len(life.confirmed) == confirmed
    life.subject.stop()


def test_a_worker_whose_database_is_away_leaves_without_a_word(life: Life, caplog: pytest.LogCaptureFixture) -> None:
    life.subject.start()
    life.gate.is_closed = True
    life.subject.stop()
    assert "the departure of this worker was not recorded; others will recover its jobs" in caplog.messages


def test_a_heartbeat_of_sufficient_age_takes_over_from_the_silent(life: Life) -> None:
    life.recovery.holding = {HERE, "gone:2"}
    life.subject.start()
    assert life.recovery.recovered == []
    until(lambda: life.recovery.recovered == ["gone:2"])
    life.subject.stop()


def test_a_heartbeat_that_knows_the_dead_takes_over_from_them_without_judging(life: Life) -> None:
    life.recovery.holding = {HERE, "here:0", "here:2"}
    with life.gate() as tx:
        WorkerRepository(tx).record_heartbeat("here:0")
        WorkerRepository(tx).record_heartbeat("here:2")
    subject = Heartbeat(
        life.gate,
        life.recovery,
        executor=HERE,
        interval=0.02,
        limit=600.0,
        broken=life.broken.set,
        on_heartbeat=lambda: life.confirmed.append(None),
    )
    subject.start(["here:0", "of another database:3"])
    until(lambda: life.recovery.recovered == ["here:0"])
    subject.stop()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_heartbeat_that_breaks_reports_it(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    def unforeseen() -> frozenset[str]:
        raise ZeroDivisionError

    monkeypatch.setattr(life.recovery, "holders", unforeseen)
    life.subject.start()
    assert life.broken.wait(10)
    life.subject.stop()
