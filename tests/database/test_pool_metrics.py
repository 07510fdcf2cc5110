from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import Engine, create_engine, text

from app.database import transaction as pool_metrics
from app.database.transaction import CONNECTIONS, MAX_CONNECTIONS, WAIT_SECONDS, WAITS, PoolMetrics, open_transactions
from app.errors import UnavailableError
from app.metrics import Numbers
from tests.doubles.queue import ListedQueue


def numbers_of(numbers: Numbers) -> dict[tuple[str, ...], float]:
    return {(one.family.name, *one.labels): one.numbers[0] for one in numbers.samples()}


def test_connections_in_use_are_counted_while_a_transaction_is_open(engine: Engine) -> None:
    numbers = Numbers()
    transaction = open_transactions(engine, ListedQueue, pool_metrics=PoolMetrics(engine, numbers))
    with transaction(), transaction() as tx:
        tx.session.execute(text("SELECT 1"))
        found = numbers_of(numbers)
        assert found[(CONNECTIONS.name, "in_use")] == 2
    found = numbers_of(numbers)
    assert (found[(CONNECTIONS.name, "in_use")], found[(CONNECTIONS.name, "idle")]) == (0, 2)
    assert found[(MAX_CONNECTIONS.name,)] == {"sqlite": 40, "postgresql": 20}[engine.dialect.name]
    assert 0 < found[(WAIT_SECONDS.name,)] < 60e9
    assert found[(WAITS.name,)] == 0


def test_a_transaction_that_fails_leaves_no_connection_in_use(engine: Engine) -> None:
    numbers = Numbers()
    transaction = open_transactions(engine, ListedQueue, pool_metrics=PoolMetrics(engine, numbers))
    with pytest.raises(ZeroDivisionError), transaction():
        raise ZeroDivisionError
    assert numbers_of(numbers)[(CONNECTIONS.name, "in_use")] == 0


def test_waits_are_counted_while_no_connection_is_free(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_metrics, "max_connections", lambda _: 2)
    numbers = Numbers()
    transaction = open_transactions(engine, ListedQueue, pool_metrics=PoolMetrics(engine, numbers))
    both = Barrier(3)

    def hold() -> None:
        with transaction():
            both.wait(60)
            both.wait(60)

    with ThreadPoolExecutor(2) as pool:
        held = [pool.submit(hold) for _ in range(2)]
        both.wait(60)
        with transaction():
            assert numbers_of(numbers)[(WAITS.name,)] == 1
        both.wait(60)
        for one in held:
            one.result(60)


def test_the_wait_of_a_transaction_that_gets_no_connection_counts_too(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path}/one.db", pool_size=1, max_overflow=0, pool_timeout=0.2)
    numbers = Numbers()
    transaction = open_transactions(engine, ListedQueue, pool_metrics=PoolMetrics(engine, numbers))
    with transaction():
        before = numbers_of(numbers)[(WAIT_SECONDS.name,)]
        with pytest.raises(UnavailableError), transaction():
            raise AssertionError
        found = numbers_of(numbers)
        assert 0.2e9 <= found[(WAIT_SECONDS.name,)] - before < 60e9
        assert found[(CONNECTIONS.name, "in_use")] == 1
    engine.dispose()
