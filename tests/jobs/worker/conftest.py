from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import Engine

from app.database.transaction import OpenTransaction, open_transactions
from app.jobs.worker.attempts import Records
from app.jobs.worker.pool import ChildPool
from app.jobs.worker.spool import Spool
from app.tasks.runner import Runner
from app.webhooks.repository import SUBSCRIBERS
from relevance_bayes.tasks.fit import Limits
from tests.doubles.queue import ListedQueue
from tests.jobs.worker import trainers
from tests.jobs.worker.bench import PROGRAM, Bench


@pytest.fixture(scope="session")
def pool() -> Iterator[ChildPool]:
    """Children that do what their spec's seed states: see `trainers.spec_of`."""
    it = ChildPool(spare=1, limits=Limits(), trainer=trainers.CHOSEN)
    it.start()
    yield it
    it.stop()


@pytest.fixture
def transaction(engine: Engine) -> OpenTransaction:
    return open_transactions(engine, ListedQueue, subscribers=SUBSCRIBERS)


@pytest.fixture
def bench(transaction: OpenTransaction, pool: ChildPool, tmp_path: Path) -> Iterator[Bench]:
    spool = Spool(tmp_path, executor="here:1")
    spool.open()
    stopping = Event()
    yield Bench(Runner(Records(transaction, stopping), pool, spool, 10_000, PROGRAM, 600.0), transaction)
    stopping.set()
    assert not any(path for path in tmp_path.glob("relevance-worker-*/*")), "a start left its files behind"
    spool.close()
