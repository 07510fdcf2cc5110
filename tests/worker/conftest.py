from collections.abc import Iterator

import pytest

from app.worker.child.limits import Limits
from app.worker.pool import Pool
from tests.worker import trainers


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    """Children that do what their spec's seed says: see `trainers.spec_of`."""
    it = Pool(spare=1, limits=Limits(), trainer=trainers.CHOSEN)
    it.start()
    yield it
    it.stop()
