import pytest
from sqlalchemy import Engine, text

from app.domain.ports import OpenUnitOfWork
from app.storage.unit_of_work import unit_of_work
from app.worker.reap import reap
from tests.ports.queue import ListedQueue
from tests.ports.recovery import ToldRecovery

LIMIT = 60.0


@pytest.fixture
def open_uow(engine: Engine) -> OpenUnitOfWork:
    """Four workers were here: one beats, one was not heard of for long, one left, and one left and is forgotten."""
    opened = unit_of_work(engine, ListedQueue)
    with opened() as uow:
        for executor in ("living", "silent", "left", "forgotten"):
            uow.workers.beat(executor)
        uow.workers.leave("left")
        uow.workers.forget("forgotten")
    with engine.begin() as connection:
        connection.execute(text("UPDATE workers SET beat_at = '2001-01-01 00:00:00' WHERE executor = 'silent'"))
    return opened


def known(open_uow: OpenUnitOfWork) -> set[str]:
    with open_uow() as uow:
        return {*uow.workers.alive(within=1e9), *uow.workers.silent(longer_than=0.0)}


def test_who_may_judge_takes_over_from_all_who_are_not_alive(open_uow: OpenUnitOfWork) -> None:
    recovery = ToldRecovery(holding={"living", "silent", "left", "forgotten"})
    reap(open_uow, recovery, limit=LIMIT, may_judge=True)
    assert recovery.recovered == ["forgotten", "left", "silent"]


def test_who_may_not_judge_takes_over_only_from_those_who_said_that_they_left(open_uow: OpenUnitOfWork) -> None:
    recovery = ToldRecovery(holding={"living", "silent", "left", "forgotten"})
    reap(open_uow, recovery, limit=LIMIT, may_judge=False)
    assert recovery.recovered == ["left"]
    assert known(open_uow) == {"living", "silent", "left"}


def test_a_heartbeat_is_forgotten_only_once_nothing_is_left_of_its_work(open_uow: OpenUnitOfWork) -> None:
    recovery = ToldRecovery(holding={"silent"})
    reap(open_uow, recovery, limit=LIMIT, may_judge=True)
    assert known(open_uow) == {"living", "silent"}
    reap(open_uow, recovery, limit=LIMIT, may_judge=True)
    assert known(open_uow) == {"living"}


def test_nothing_is_asked_of_the_engine_when_all_are_well(open_uow: OpenUnitOfWork) -> None:
    recovery = ToldRecovery(holding={"living"})
    reap(open_uow, recovery, limit=LIMIT, may_judge=True)
    assert recovery.recovered == []
