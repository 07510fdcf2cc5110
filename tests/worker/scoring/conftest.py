from threading import Event

import pytest
from sqlalchemy import Engine

from app.evaluation.runner import Scorer
from app.jobs.worker.attempts import Records
from app.storage.unit_of_work import unit_of_work
from tests.ports.queue import ListedQueue
from tests.services.small_models import small_version
from tests.worker.scoring.bench import Bench


@pytest.fixture
def bench(engine: Engine) -> Bench:
    open_uow, stopping = unit_of_work(engine, ListedQueue), Event()
    bench = Bench(open_uow, stopping, Scorer(Records(open_uow, stopping), "this program"))
    bench.version(small_version())
    return bench
