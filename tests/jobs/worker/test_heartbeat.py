from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from threading import Event

import pytest
from sqlalchemy import Engine

from app.database.transaction import OpenTransaction, Transaction, open_transactions
from app.errors import UnavailableError
from app.jobs.records import JobActivity
from app.jobs.worker.heartbeat import HEARTBEATS_PER_IDLE_CHECK, Heartbeat, HeartbeatStreak
from app.jobs.worker_repository import WorkerRepository
from tests import samples
from tests.doubles.queue import ListedQueue
from tests.doubles.recovery import ToldRecovery
from tests.waiting import until

HERE = "here:1"


def beaten(*times: float, wall: Callable[[float], float] = lambda monotonic: monotonic) -> HeartbeatStreak:
    """A streak after beats at these times; beats are due each 2 s, and silence is 8 s."""
    streak = HeartbeatStreak(interval=2.0, limit=8.0)
    for time in times:
        streak.record((time, wall(time)))
    return streak


def test_a_worker_may_judge_once_it_has_beaten_for_the_limit_and_two_beats() -> None:
    assert not beaten().is_reliable
    assert not beaten(100.0).is_reliable
    assert not beaten(*range(100, 111)).is_reliable
    assert beaten(*range(100, 113)).is_reliable


def test_a_gap_takes_the_right_to_judge_until_it_is_earned_again() -> None:
    before = range(100, 113)
    assert not beaten(*before, 117.0).is_reliable
    assert not beaten(*before, *range(117, 128)).is_reliable
    assert beaten(*before, *range(117, 130)).is_reliable


def test_a_beat_that_comes_a_little_late_is_no_gap() -> None:
    assert beaten(*range(100, 113, 2), 115.9).is_reliable


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_a_jump_of_the_clock_on_the_wall_is_a_gap(jump: float) -> None:
    assert not beaten(*range(100, 114), wall=lambda time: time + (jump if time > 112 else 0.0)).is_reliable


@dataclass
class Door:
    """Transactions, unless it is shut."""

    transaction: OpenTransaction
    shut: bool = False
    knocks: int = 0

    def __call__(self) -> AbstractContextManager[Transaction]:
        if self.shut:
            self.knocks += 1
            raise UnavailableError("The database is away.")
        return self.transaction()


@dataclass
class Life:
    """A heart on a real database, beating fast."""

    heart: Heartbeat
    door: Door
    recovery: ToldRecovery
    broken: Event
    confirmed: list[None]
    activities: list[JobActivity]

    def alive(self) -> tuple[str, ...]:
        with self.door.transaction() as tx:
            return WorkerRepository(tx).alive(within=0.5)


@pytest.fixture
def life(engine: Engine) -> Life:
    door, recovery, broken = Door(open_transactions(engine, ListedQueue)), ToldRecovery(), Event()
    confirmed: list[None] = []
    activities: list[JobActivity] = []
    heart = Heartbeat(
        door,
        recovery,
        executor=HERE,
        interval=0.02,
        limit=0.5,
        broken=broken.set,
        on_heartbeat=lambda: confirmed.append(None),
        on_activity=activities.append,
    )
    return Life(heart, door, recovery, broken, confirmed, activities)


def test_a_worker_is_alive_as_soon_as_it_has_started_and_not_after_it_has_left(life: Life) -> None:
    life.heart.start()
    assert life.alive() == (HERE,)
    life.heart.stop()
    assert life.alive() == ()
    with life.door() as tx:
        assert WorkerRepository(tx).last_heartbeats()[HERE].left
    assert not life.broken.is_set()


def test_a_worker_that_cannot_beat_once_does_not_start(life: Life) -> None:
    life.door.shut = True
    with pytest.raises(UnavailableError):
        life.heart.start()


def test_a_heart_outlives_a_database_that_goes_away(life: Life) -> None:
    life.heart.start()
    life.door.shut = True
    until(lambda: life.door.knocks >= 3)
    until(lambda: life.alive() == ())
    life.door.shut = False
    until(lambda: life.alive() == (HERE,))
    life.heart.stop()
    assert not life.broken.is_set()


def test_an_idle_heart_looks_after_the_others_at_each_fifth_beat_and_a_busy_one_at_each(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []

    def holders() -> frozenset[str]:
        looks.append(len(life.activities))
        return frozenset()

    monkeypatch.setattr(life.recovery, "holders", holders)
    life.heart.start()
    until(lambda: len(looks) >= 3)
    assert looks[:3] == [0, HEARTBEATS_PER_IDLE_CHECK, 2 * HEARTBEATS_PER_IDLE_CHECK]
    samples.queued_job(life.door.transaction)
    until(lambda: any(activity.is_unfinished for activity in life.activities))
    begun = len(looks)
    until(lambda: len(looks) >= begun + 4)
    life.heart.stop()
    assert all(later - earlier == 1 for earlier, later in pairwise(looks[begun : begun + 4]))


def test_the_health_file_is_due_after_confirmed_beats_alone(life: Life) -> None:
    life.heart.start()
    until(lambda: len(life.confirmed) >= 2)
    life.door.shut = True
    until(lambda: life.door.knocks >= 1)
    confirmed = len(life.confirmed)
    until(lambda: life.door.knocks >= 4)
    assert len(life.confirmed) == confirmed
    life.heart.stop()


def test_a_worker_whose_database_is_away_leaves_without_a_word(life: Life, caplog: pytest.LogCaptureFixture) -> None:
    life.heart.start()
    life.door.shut = True
    life.heart.stop()
    assert "the departure of this worker was not recorded; others will recover its jobs" in caplog.messages


def test_a_heart_that_has_beaten_long_enough_takes_over_from_the_silent(life: Life) -> None:
    life.recovery.holding = {HERE, "gone:2"}
    life.heart.start()
    assert life.recovery.recovered == []
    until(lambda: life.recovery.recovered == ["gone:2"])
    life.heart.stop()


def test_a_heart_that_was_told_of_the_dead_takes_over_from_them_without_judging(life: Life) -> None:
    life.recovery.holding = {HERE, "here:0", "here:2"}
    with life.door() as tx:
        WorkerRepository(tx).record_heartbeat("here:0")
        WorkerRepository(tx).record_heartbeat("here:2")
    heart = Heartbeat(
        life.door,
        life.recovery,
        executor=HERE,
        interval=0.02,
        limit=600.0,
        broken=life.broken.set,
        on_heartbeat=lambda: life.confirmed.append(None),
        on_activity=life.activities.append,
    )
    heart.start(["here:0", "of another database:3"])
    until(lambda: life.recovery.recovered == ["here:0"])
    heart.stop()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_heart_that_breaks_says_so(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    def unforeseen() -> frozenset[str]:
        raise ZeroDivisionError

    monkeypatch.setattr(life.recovery, "holders", unforeseen)
    life.heart.start()
    assert life.broken.wait(10)
    life.heart.stop()
