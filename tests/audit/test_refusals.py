from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app.audit import refusals as subject
from app.audit.refusals import BURST, LimitedRefusals
from app.audit.service import Audit
from app.database.transaction import OpenTransaction, Transaction
from app.errors import UnavailableError
from relevance_bayes.records.audit import AuditDetail


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def details(transaction: OpenTransaction, owner: str = "alice") -> list[dict[str, AuditDetail]]:
    return [dict(entry.details) for batch in Audit(transaction).batches(owner) for entry in batch]


def test_refusals_above_the_limit_are_counted_in_the_next_record(transaction: OpenTransaction) -> None:
    clock = Clock()
    refusals = LimitedRefusals(transaction, now=clock)
    for _ in range(BURST + 7):
        refusals.record("alice", "DELETE", "/v1/models/one", 403)
    refusals.record("bob", "DELETE", "/v1/models/one", 404)
    assert details(transaction) == [{"method": "DELETE", "status": 403}] * BURST
    assert details(transaction, "bob") == [{"method": "DELETE", "status": 404}]
    clock.now += 59.0
    refusals.record("alice", "DELETE", "/v1/models/one", 403)
    clock.now += 2.0
    refusals.record("alice", "PUT", "/v1/models/one", 409)
    assert details(transaction)[BURST:] == [{"method": "PUT", "status": 409, "omitted": 8}]


@pytest.mark.thorough
def test_the_records_of_a_day_are_few_however_many_requests_are_refused(transaction: OpenTransaction) -> None:
    clock = Clock()
    refusals = LimitedRefusals(transaction, now=clock)
    for _ in range(24 * 60 * 4):
        clock.now += 15.0
        refusals.record("alice", "DELETE", "/v1/models/one", 403)
    assert len(details(transaction)) <= BURST + 24 * 60


def test_refusals_while_the_database_is_away_are_counted(transaction: OpenTransaction) -> None:
    is_away = True

    @contextmanager
    def sometimes() -> Iterator[Transaction]:
        if is_away:
            raise UnavailableError("The database can't be reached.")
        with transaction() as tx:
            yield tx

    refusals = LimitedRefusals(sometimes)
    for _ in range(3):
        refusals.record("alice", "DELETE", "/v1/models/one", 403)
    is_away = False
    refusals.record("alice", "DELETE", "/v1/models/\0" + "x" * 10_000, 403)
    assert details(transaction) == [{"method": "DELETE", "status": 403, "omitted": 3}]


def test_the_rates_of_owners_take_bounded_memory(transaction: OpenTransaction, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "MAX_OWNERS", 2)
    monkeypatch.setattr(subject, "BURST", 1)
    refusals = LimitedRefusals(transaction, now=Clock())
    for owner in ("alice", "bob", "carol", "bob", "alice"):
        refusals.record(owner, "DELETE", "/v1/models/one", 403)
    assert [len(details(transaction, owner)) for owner in ("alice", "bob", "carol")] == [2, 1, 1]
