import time

from sqlalchemy import Engine, text

from app.database.transaction import OpenTransaction
from app.jobs.statistics_repository import WorkerRepository


def _age(engine: Engine, executor: str, seconds: int) -> None:
    earlier = (
        f"strftime('%Y-%m-%d %H:%M:%f000', heartbeat_at, '-{seconds} seconds')"
        if engine.dialect.name == "sqlite"
        else f"heartbeat_at - interval '{seconds} seconds'"
    )
    with engine.begin() as connection:
        connection.execute(
            text(f"UPDATE workers SET heartbeat_at = {earlier} WHERE executor = :executor"), {"executor": executor}
        )


def test_a_worker_that_sends_heartbeats_is_alive(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        WorkerRepository(tx).record_heartbeat("a")
    with transaction() as tx:
        assert WorkerRepository(tx).alive(within=5.0) == ("a",)
        assert not WorkerRepository(tx).last_heartbeats()["a"].left


def test_each_heartbeat_is_another_one(transaction: OpenTransaction) -> None:
    seen = set()
    for _ in range(3):
        with transaction() as tx:
            WorkerRepository(tx).record_heartbeat("a")
        with transaction() as tx:
            seen.add(WorkerRepository(tx).last_heartbeats()["a"].at)
        time.sleep(0.02)
    assert len(seen) == 3


def test_a_worker_that_stopped_beating_is_not_alive(transaction: OpenTransaction, engine: Engine) -> None:
    with transaction() as tx:
        WorkerRepository(tx).record_heartbeat("dead")
        WorkerRepository(tx).record_heartbeat("slow")
        WorkerRepository(tx).record_heartbeat("well")
    _age(engine, "dead", 60)
    _age(engine, "slow", 6)
    with transaction() as tx:
        assert WorkerRepository(tx).alive(within=8.0) == ("slow", "well")
        assert WorkerRepository(tx).alive(within=5.9) == ("well",)
    with transaction() as tx:
        WorkerRepository(tx).record_heartbeat("dead")
    with transaction() as tx:
        assert WorkerRepository(tx).alive(within=8.0) == ("dead", "slow", "well")


def test_a_worker_that_left_is_removed_at_once_and_stays_so(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        WorkerRepository(tx).record_heartbeat("a")
        WorkerRepository(tx).leave("a")
    with transaction() as tx:
        assert WorkerRepository(tx).last_heartbeats()["a"].left
        assert WorkerRepository(tx).alive(within=1000.0) == ()
        WorkerRepository(tx).record_heartbeat("a")
    with transaction() as tx:
        assert WorkerRepository(tx).last_heartbeats()["a"].left
        assert WorkerRepository(tx).alive(within=1000.0) == ()


def test_a_forgotten_worker_is_not_there_until_it_sends_heartbeats(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        WorkerRepository(tx).record_heartbeat("a")
        WorkerRepository(tx).forget("a")
    with transaction() as tx:
        assert WorkerRepository(tx).last_heartbeats() == {}
        assert WorkerRepository(tx).alive(within=1000.0) == ()
        WorkerRepository(tx).record_heartbeat("a")
    with transaction() as tx:
        assert WorkerRepository(tx).alive(within=1000.0) == ("a",)


def test_heartbeats_are_counted_to_parts_of_a_second(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        WorkerRepository(tx).record_heartbeat("a")
    with transaction() as tx:
        assert WorkerRepository(tx).alive(within=-0.5) == ()
        assert WorkerRepository(tx).alive(within=20.0) == ("a",)


def test_a_heartbeat_is_by_the_clock_of_the_database(transaction: OpenTransaction, engine: Engine) -> None:
    """The transaction's own clock is in March; the database's is not."""
    with transaction() as tx:
        WorkerRepository(tx).record_heartbeat("a")
    now = "strftime('%Y-%m-%d', 'now')" if engine.dialect.name == "sqlite" else "(now() AT TIME ZONE 'UTC')::date::text"
    day = "date(heartbeat_at)" if engine.dialect.name == "sqlite" else "(heartbeat_at AT TIME ZONE 'UTC')::date::text"
    with engine.connect() as connection:
        assert connection.execute(text(f"SELECT {day} >= {now} FROM workers")).scalar_one()
