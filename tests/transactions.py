"""Transactions on a migrated, empty database, on a clock that tests set."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine

from app.audit.repository import store_changes
from app.database.transaction import OpenTransaction, open_transactions
from app.jobs import statistics_repository
from app.webhooks.repository import SUBSCRIBERS
from tests.doubles.queue import ListedQueue


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
def transaction(engine: Engine, clock: HandClock) -> OpenTransaction:
    """Transactions on a migrated, empty database."""
    return open_transactions(
        engine,
        ListedQueue,
        clock=clock,
        subscribers=(*statistics_repository.SUBSCRIBERS, *SUBSCRIBERS),
        store_changes=store_changes,
    )
