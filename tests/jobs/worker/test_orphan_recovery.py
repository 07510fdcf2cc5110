from dataclasses import dataclass, replace

import pytest
from sqlalchemy import Engine, text

from app.database.transaction import OpenTransaction, open_transactions
from app.jobs.worker.orphan_recovery import HeartbeatWatch, recover_orphans
from app.jobs.worker_repository import WorkerRepository
from tests.doubles.queue import ListedQueue
from tests.doubles.recovery import ToldRecovery

LIMIT = 60.0


@dataclass
class Reaper:
    """One who has watched four workers: one beats, one is silent, one left, and one left and is forgotten."""

    transaction: OpenTransaction
    recovery: ToldRecovery
    watch: HeartbeatWatch
    now: float = 100.0

    def look(self, *, is_reliable: bool = True, later: float = 0.0) -> None:
        self.now += later
        recover_orphans(self.transaction, self.recovery, self.watch, now=self.now, is_reliable=is_reliable)

    def record_heartbeat(self, *executors: str) -> None:
        for executor in executors:
            with self.transaction() as tx:
                WorkerRepository(tx).record_heartbeat(executor)

    def known(self) -> set[str]:
        with self.transaction() as tx:
            return set(WorkerRepository(tx).last_heartbeats())


@pytest.fixture
def reaper(engine: Engine) -> Reaper:
    it = Reaper(open_transactions(engine, ListedQueue), ToldRecovery(), HeartbeatWatch(limit=LIMIT))
    it.record_heartbeat("living", "silent", "left", "forgotten")
    with it.transaction() as tx:
        WorkerRepository(tx).leave("left")
        WorkerRepository(tx).forget("forgotten")
    it.recovery.holding = {"living", "silent", "left", "forgotten"}
    it.look(is_reliable=False)
    it.recovery.recovered = []
    it.recovery.holding = {"living", "silent", "left", "forgotten"}
    it.now += LIMIT + 1.0
    it.record_heartbeat("living")
    return it


def test_who_may_judge_takes_over_from_all_who_are_not_alive(reaper: Reaper) -> None:
    reaper.look()
    assert reaper.recovery.recovered == ["forgotten", "left", "silent"]


def test_who_may_not_judge_takes_over_only_from_those_who_said_that_they_left(reaper: Reaper) -> None:
    reaper.look(is_reliable=False)
    assert reaper.recovery.recovered == ["left"]
    assert reaper.known() == {"living", "silent", "left"}


def test_a_heartbeat_is_forgotten_only_once_nothing_is_left_of_its_work(reaper: Reaper) -> None:
    reaper.recovery.holding = {"silent"}
    reaper.look()
    assert reaper.known() == {"living", "silent"}
    reaper.look()
    assert reaper.known() == {"living"}


def test_nothing_is_asked_of_the_engine_when_all_are_well(reaper: Reaper) -> None:
    reaper.recovery.holding = {"living"}
    reaper.look()
    assert reaper.recovery.recovered == []


def test_a_beat_starts_the_time_anew_whatever_clock_it_is_by(reaper: Reaper, engine: Engine) -> None:
    for when in ("2001-01-01 00:00:00", "2050-01-01 00:00:00", "2020-01-01 00:00:00"):
        with engine.begin() as connection:
            connection.execute(text(f"UPDATE workers SET heartbeat_at = '{when}' WHERE executor = 'silent'"))
        reaper.record_heartbeat("living")
        reaper.look(later=LIMIT - 1.0)
        assert "silent" not in reaper.recovery.recovered
    reaper.record_heartbeat("living")
    reaper.look(later=LIMIT + 1.0)
    assert "silent" in reaper.recovery.recovered


def test_who_has_only_begun_to_watch_takes_nobody_for_silent(reaper: Reaper) -> None:
    replace(reaper, watch=HeartbeatWatch(limit=LIMIT)).look()
    assert reaper.recovery.recovered == ["forgotten", "left"]
