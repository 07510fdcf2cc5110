"""Recorded predictions on both databases: each once, deleted by age, and counted by hour."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from app.database.transaction import OpenTransaction
from app.http.authentication import sufficient_scopes
from app.outcomes.records import RecordedRow, ScoredOutcome
from app.outcomes.repository import EXPIRED_AT_ONCE, ROWS_AT_ONCE, RecordedPredictionRepository
from app.registry.repository import ModelRepository
from app.registry.version_repository import VersionRepository
from relevance_bayes.records.errors import InvalidRequestError
from tests import samples

DAY = 86_400.0
HOUR = datetime(2026, 3, 1, 12, tzinfo=UTC)
INSIDE = ScoredOutcome(-1.0, -0.5, 0.0, 0.0, 80, None, None, 0.05)


@pytest.fixture
def version_id(transaction: OpenTransaction) -> UUID:
    samples.stored_version(transaction)
    with transaction() as tx:
        return ModelRepository(tx).version(samples.OWNER, "prices").id


def add(transaction: OpenTransaction, version_id: UUID, ids: list[str], *, at: datetime | None = None) -> int:
    rows = [RecordedRow(version_id, one, at or datetime.now(UTC), "[1.0]") for one in ids]
    with transaction() as tx:
        return RecordedPredictionRepository(tx).add(rows)


def found(transaction: OpenTransaction, version_id: UUID, ids: list[str]) -> set[str]:
    with transaction() as tx:
        return {one.row_id for one in RecordedPredictionRepository(tx).find({version_id: 1}, ids)}


def test_a_version_keeps_the_first_row_with_an_id(transaction: OpenTransaction, version_id: UUID) -> None:
    assert add(transaction, version_id, ["a", "b"]) == 2
    assert add(transaction, version_id, ["b", "c"]) == 1
    assert found(transaction, version_id, ["a", "c", "d"]) == {"a", "c"}
    assert found(transaction, version_id, []) == set()


def test_more_rows_than_one_statement_takes_are_added_and_found(transaction: OpenTransaction, version_id: UUID) -> None:
    ids = [f"row {number}" for number in range(2 * ROWS_AT_ONCE + 1)]
    assert add(transaction, version_id, ids) == len(ids)
    assert found(transaction, version_id, ids) == set(ids)


def test_rows_are_deleted_at_an_age_some_at_a_time(transaction: OpenTransaction, version_id: UUID) -> None:
    old = [f"row {number}" for number in range(EXPIRED_AT_ONCE + 1)]
    add(transaction, version_id, old, at=datetime.now(UTC) - timedelta(days=2))
    add(transaction, version_id, ["new"])
    for more in (True, False, False):
        with transaction() as tx:
            assert RecordedPredictionRepository(tx).remove_expired(older_than=DAY) is more
    assert found(transaction, version_id, [*old, "new"]) == {"new"}


def test_outcomes_are_counted_by_the_hour_and_the_day_of_their_predictions(
    transaction: OpenTransaction, version_id: UUID
) -> None:
    times = [HOUR, HOUR + timedelta(minutes=59), HOUR + timedelta(hours=1), HOUR + timedelta(days=1)]
    for at in times:  # each in a transaction of its own
        with transaction() as tx:
            RecordedPredictionRepository(tx).count(version_id, [(at, INSIDE)])
    with transaction() as tx:
        numbers = VersionRepository(tx).numbers(samples.OWNER, "prices")
        repository = RecordedPredictionRepository(tx)
        hours = repository.buckets(numbers, "hour", limit=9, after=None)
        first = repository.buckets(numbers, "day", limit=1, after=None)
        rest = repository.buckets(numbers, "day", limit=1, after=first.next)
        with pytest.raises(InvalidRequestError):
            repository.buckets(numbers, "day", limit=1, after="bm90aGluZw")
    assert [(one.start, one.outcomes) for one in hours.items] == [
        (HOUR + timedelta(days=1), 1),
        (HOUR + timedelta(hours=1), 1),
        (HOUR, 2),
    ]
    (last,) = rest.items
    assert (rest.next, last.start, last.outcomes) == (None, HOUR.replace(hour=0), 3)
    assert (last.inside_50, last.inside_80, last.inside_95, last.log_score) == (0, 3, 3, -3.0)


def test_outcomes_need_the_scope_predict_or_train_and_their_lists_read() -> None:
    assert sufficient_scopes("POST", "/v1/models/small/outcomes") == ("predict", "train")
    assert sufficient_scopes("GET", "/v1/models/small/outcomes") == ("read",)
    assert sufficient_scopes("GET", "/v1/models/small/alarms") == ("read",)
