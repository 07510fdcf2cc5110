from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine

from app.domain.ports import OpenUnitOfWork
from app.storage.unit_of_work import unit_of_work
from tests.ports.queue import ListedQueue


class HandClock:
    """A clock that goes on by a second each time it is looked at."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def open_uow(engine: Engine, clock: HandClock) -> OpenUnitOfWork:
    """Units of work on a migrated, empty database."""
    return unit_of_work(engine, ListedQueue, clock=clock)
