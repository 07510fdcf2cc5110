import time

from sqlalchemy import Engine, text

from app.domain.ports import OpenUnitOfWork


def _age(engine: Engine, executor: str, seconds: int) -> None:
    earlier = (
        f"strftime('%Y-%m-%d %H:%M:%f000', beat_at, '-{seconds} seconds')"
        if engine.dialect.name == "sqlite"
        else f"beat_at - interval '{seconds} seconds'"
    )
    with engine.begin() as connection:
        connection.execute(
            text(f"UPDATE workers SET beat_at = {earlier} WHERE executor = :executor"), {"executor": executor}
        )


def test_a_worker_that_beats_is_alive(open_uow: OpenUnitOfWork) -> None:
    with open_uow() as uow:
        uow.workers.record_heartbeat("a")
    with open_uow() as uow:
        assert uow.workers.alive(within=5.0) == ("a",)
        assert not uow.workers.last_heartbeats()["a"].left


def test_each_beat_is_another_one(open_uow: OpenUnitOfWork) -> None:
    met = set()
    for _ in range(3):
        with open_uow() as uow:
            uow.workers.record_heartbeat("a")
        with open_uow() as uow:
            met.add(uow.workers.last_heartbeats()["a"].at)
        time.sleep(0.02)
    assert len(met) == 3


def test_a_worker_that_stopped_beating_is_not_alive(open_uow: OpenUnitOfWork, engine: Engine) -> None:
    with open_uow() as uow:
        uow.workers.record_heartbeat("dead")
        uow.workers.record_heartbeat("slow")
        uow.workers.record_heartbeat("well")
    _age(engine, "dead", 60)
    _age(engine, "slow", 6)
    with open_uow() as uow:
        assert uow.workers.alive(within=8.0) == ("slow", "well")
        assert uow.workers.alive(within=5.9) == ("well",)
    with open_uow() as uow:
        uow.workers.record_heartbeat("dead")
    with open_uow() as uow:
        assert uow.workers.alive(within=8.0) == ("dead", "slow", "well")


def test_a_worker_that_left_is_gone_at_once_and_stays_so(open_uow: OpenUnitOfWork) -> None:
    with open_uow() as uow:
        uow.workers.record_heartbeat("a")
        uow.workers.leave("a")
    with open_uow() as uow:
        assert uow.workers.last_heartbeats()["a"].left
        assert uow.workers.alive(within=1000.0) == ()
        uow.workers.record_heartbeat("a")
    with open_uow() as uow:
        assert uow.workers.last_heartbeats()["a"].left
        assert uow.workers.alive(within=1000.0) == ()


def test_a_forgotten_worker_is_not_there_until_it_beats(open_uow: OpenUnitOfWork) -> None:
    with open_uow() as uow:
        uow.workers.record_heartbeat("a")
        uow.workers.forget("a")
    with open_uow() as uow:
        assert uow.workers.last_heartbeats() == {}
        assert uow.workers.alive(within=1000.0) == ()
        uow.workers.record_heartbeat("a")
    with open_uow() as uow:
        assert uow.workers.alive(within=1000.0) == ("a",)


def test_beats_are_counted_to_parts_of_a_second(open_uow: OpenUnitOfWork) -> None:
    with open_uow() as uow:
        uow.workers.record_heartbeat("a")
    with open_uow() as uow:
        assert uow.workers.alive(within=-0.5) == ()
        assert uow.workers.alive(within=20.0) == ("a",)


def test_a_beat_is_by_the_clock_of_the_database(open_uow: OpenUnitOfWork, engine: Engine) -> None:
    """The unit of work's own clock stands in March; the database's does not."""
    with open_uow() as uow:
        uow.workers.record_heartbeat("a")
    now = "strftime('%Y-%m-%d', 'now')" if engine.dialect.name == "sqlite" else "(now() AT TIME ZONE 'UTC')::date::text"
    day = "date(beat_at)" if engine.dialect.name == "sqlite" else "(beat_at AT TIME ZONE 'UTC')::date::text"
    with engine.connect() as connection:
        assert connection.execute(text(f"SELECT {day} >= {now} FROM workers")).scalar_one()
