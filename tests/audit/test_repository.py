import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta

import pytest
from sqlalchemy import Engine, text

from app.audit import repository as subject
from app.audit.records import AuditFilter, ChainHead
from app.audit.repository import AuditRepository
from app.audit.service import Audit
from app.database.engine import lock_for_writing
from app.database.keyset import PageRequest
from app.database.transaction import Change, OpenTransaction
from app.origin import Origin, acting
from relevance_bayes.records.audit import AuditEntry
from tests.transactions import HandClock
from tests.waiting import until

OWNER = "alice"
DAY = 86_400.0


def record(transaction: OpenTransaction, *, number: int = 1, owner: str = OWNER) -> None:
    """Record that many changes, each in a transaction of its own."""
    for _ in range(number):
        with transaction() as tx:
            tx.record("model.updated", owner, "/v1/models/größer", reason='É\n"quoted"', version=3, missing=None)


def entries(transaction: OpenTransaction, owner: str = OWNER) -> list[AuditEntry]:
    return [entry for batch in Audit(transaction).batches(owner) for entry in batch]


def faults(transaction: OpenTransaction, *checkpoints: ChainHead) -> tuple[str, ...]:
    return Audit(transaction).verify(OWNER, checkpoints).faults


def execute(engine: Engine, statement: str, **values: object) -> None:
    """Change the tables as somebody would who can write to the database."""
    with engine.begin() as connection:
        lock_for_writing(connection)
        assert connection.execute(text(statement), values).rowcount > 0


def is_blocked(engine: Engine) -> bool:
    """True while a session of PostgreSQL waits for another's lock."""
    with engine.connect() as connection:
        return bool(connection.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")))


def test_an_entry_has_the_change_its_origin_and_the_hash_that_is_documented(transaction: OpenTransaction) -> None:
    with acting(Origin("api_key", "key-1", OWNER, "192.0.2.7", "curl/8", "r-1")):
        record(transaction)
    record(transaction)
    first, second = entries(transaction)
    assert (first.owner, first.number, first.action, first.result) == (OWNER, 1, "model.updated", "success")
    assert (first.resource, first.details) == ("/v1/models/größer", {"reason": 'É\n"quoted"', "version": 3})
    assert (first.actor.kind, first.actor.id, first.address) == ("api_key", "key-1", "192.0.2.7")
    assert (first.user_agent, first.request_id) == ("curl/8", "r-1")
    assert (second.actor.kind, second.actor.id, second.address, second.request_id) == ("service", None, None, None)
    at, zeros = first.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "0" * 64
    written = (
        '{"action":"model.updated","actor":{"id":"key-1","kind":"api_key"},"address":"192.0.2.7","at":"'
        f'{at}","details":{{"reason":"É\\n\\"quoted\\"","version":3}},"number":1,"owner":"alice","previous_hash":"'
        f'{zeros}","request_id":"r-1","resource":"/v1/models/größer","result":"success","user_agent":"curl/8"}}'
    )
    assert json.loads(written)
    assert first.hash == hashlib.sha256(written.encode()).hexdigest()
    assert (second.number, second.previous_hash) == (2, first.hash)


def test_a_transaction_that_fails_leaves_no_entry_and_no_gap(transaction: OpenTransaction) -> None:
    record(transaction)
    with suppress(ZeroDivisionError), transaction() as tx:
        tx.record("model.updated", OWNER, "/v1/models/one")
        raise ZeroDivisionError
    record(transaction)
    assert [entry.number for entry in entries(transaction)] == [1, 2]


def test_changes_of_several_owners_go_to_the_chain_of_each(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        for owner in ("bob", OWNER, "bob"):
            tx.record("key.created", owner, f"/v1/keys/{owner}")
    assert [entry.number for entry in entries(transaction, "bob")] == [1, 2]
    assert [entry.number for entry in entries(transaction)] == [1]
    assert Audit(transaction).owners() == (OWNER, "bob")


def test_concurrent_transactions_make_one_chain_without_gaps(transaction: OpenTransaction) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: record(transaction, number=10), range(8)))
    assert [entry.number for entry in entries(transaction)] == list(range(1, 81))
    assert faults(transaction) == ()


def test_pages_and_filters_select_entries(transaction: OpenTransaction, clock: HandClock) -> None:
    record(transaction, number=3)
    since = clock.now
    with acting(Origin("job", "job-1")), transaction() as tx:
        tx.record("version.created", OWNER, "/v1/models/one/versions/1")
    record(transaction, owner="bob")
    until = clock.now
    record(transaction)

    def numbers(which: AuditFilter, part: PageRequest | None = None) -> list[int]:
        return [entry.number for entry in Audit(transaction).page(OWNER, part or PageRequest(10), which).items]

    assert numbers(AuditFilter()) == [5, 4, 3, 2, 1]
    assert numbers(AuditFilter(action="version.created")) == [4]
    assert numbers(AuditFilter(actor="job-1")) == [4]
    assert numbers(AuditFilter(resource="/v1/models/one/versions/1")) == [4]
    assert numbers(AuditFilter(since=since + timedelta(milliseconds=1))) == [5, 4]
    assert numbers(AuditFilter(until=until)) == [4, 3, 2, 1]
    first = Audit(transaction).page(OWNER, PageRequest(2))
    assert numbers(AuditFilter(), PageRequest(2, first.next)) == [3, 2]
    assert numbers(AuditFilter(), PageRequest(2, first.next, "oldest")) == [5]


TAMPERING = {
    "UPDATE audit_entries SET resource = '/v1/models/other' WHERE number = 3": "Entry 3 was changed",
    "UPDATE audit_entries SET result = 'refused' WHERE number = 3": "Entry 3 was changed",
    "UPDATE audit_entries SET at = '2026-03-01 00:00:00' WHERE number = 3": "Entry 3 was changed",
    "UPDATE audit_entries SET action = 'model.painted' WHERE number = 3": "An entry after the beginning can't be read",
    "DELETE FROM audit_entries WHERE number = 3": "Expected entry 3 after entry 2, got 4.",
    "DELETE FROM audit_entries WHERE number <= 3": "Entries before 4 are missing",
    "DELETE FROM audit_entries WHERE number = 5": "as the last one, got entry 4.",
    "DELETE FROM audit_entries": "Expected entry 5 with the recorded hash as the last one, got none.",
    "DELETE FROM audit_chains": "Expected entry 0 with the recorded hash as the last one, got entry 5.",
    "UPDATE audit_entries SET owner = 'bob' WHERE number = 5": "Expected entry 5 with the recorded hash",
}


@pytest.mark.parametrize("statement", TAMPERING)
def test_verification_finds_what_was_changed_in_the_tables(
    statement: str, transaction: OpenTransaction, engine: Engine
) -> None:
    record(transaction, number=5)
    assert faults(transaction) == ()
    execute(engine, statement)
    assert TAMPERING[statement] in " ".join(faults(transaction))


def test_a_tail_that_was_deleted_with_its_record_is_found_by_a_checkpoint_alone(
    transaction: OpenTransaction, engine: Engine
) -> None:
    record(transaction, number=5)
    last = Audit(transaction).verify(OWNER).last
    assert last is not None
    assert last.number == 5
    record(transaction)
    assert faults(transaction, last) == ()
    execute(engine, "DELETE FROM audit_entries WHERE number > 3")
    hash_of_last = entries(transaction)[-1].hash
    execute(engine, "UPDATE audit_chains SET number = 3, hash = :hash", hash=hash_of_last)
    assert faults(transaction) == ()
    assert faults(transaction, last) == ("Entries are missing at the end: there is a checkpoint of entry 5.",)
    record(transaction, number=3)
    assert faults(transaction) == ()
    assert faults(transaction, last) == ("Entry 5 was replaced: the checkpoint has another hash.",)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "AT_ONCE", 4)


def drain(transaction: OpenTransaction, *, days: float) -> int:
    """Remove expired entries as retention does; return the number of transactions that removed something."""
    for count in range(100):
        assert faults(transaction) == ()
        with transaction() as tx:
            if not AuditRepository(tx).remove_expired(older_than=days * DAY):
                return count
    raise AssertionError("no end")


@pytest.mark.usefixtures("small_batches")
def test_retention_removes_old_entries_from_the_beginning_and_leaves_a_valid_chain(
    transaction: OpenTransaction, clock: HandClock, engine: Engine
) -> None:
    record(transaction, number=10)
    record(transaction, owner="bob", number=2)
    last_old = entries(transaction)[-1]
    checkpoint = ChainHead(OWNER, 5, entries(transaction)[4].hash)
    clock.now += timedelta(days=30)
    record(transaction, number=2)
    assert drain(transaction, days=29.5) == 0  # less than a day above the retention
    clock.now += timedelta(days=1)
    assert drain(transaction, days=30) == 6  # a record and four deletions of two owners
    assert drain(transaction, days=30) == 0
    kept = entries(transaction)
    assert [(entry.number, entry.action) for entry in kept] == [
        (11, "model.updated"),
        (12, "model.updated"),
        (13, "audit.expired"),
    ]
    assert kept[-1].details == {"through": 10, "hash": last_old.hash}
    assert kept[0].previous_hash == last_old.hash
    assert faults(transaction, checkpoint) == ()
    assert [entry.action for entry in entries(transaction, "bob")] == ["audit.expired"]
    clock.now += timedelta(days=100)
    assert drain(transaction, days=30) == 2
    assert [entry.number for entry in entries(transaction)] == [14]
    clock.now += timedelta(days=100)
    assert drain(transaction, days=30) == 0  # an entry of deletions alone is not deleted
    execute(engine, "UPDATE audit_entries SET details = '{}' WHERE owner = 'alice'")
    assert len(faults(transaction)) == 2


def test_a_deletion_from_the_beginning_without_a_record_is_found(
    transaction: OpenTransaction, clock: HandClock, engine: Engine
) -> None:
    record(transaction, number=4)
    clock.now += timedelta(days=40)
    record(transaction, number=4)
    drain(transaction, days=30)
    execute(engine, "DELETE FROM audit_entries WHERE number = 5")
    assert faults(transaction) == ("Entries before 6 are missing, and no entry `audit.expired` is about them.",)


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_change_waits_for_those_of_its_owner_alone(transaction: OpenTransaction, engine: Engine) -> None:
    with ThreadPoolExecutor(1) as pool:
        with transaction() as tx:
            change = Change("model.updated", OWNER, "/v1/models/one", Origin("service"), {})
            AuditRepository(tx).append([change])  # the chain is locked from here on
            record(transaction, owner="bob")
            waiting = pool.submit(record, transaction)
            until(lambda: is_blocked(engine), seconds=30.0)
            assert not waiting.done()
        waiting.result(30)
    assert [entry.number for entry in entries(transaction)] == [1, 2]
    assert faults(transaction) == ()


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_two_workers_leave_one_entry_about_expired_ones(
    transaction: OpenTransaction, clock: HandClock, engine: Engine
) -> None:
    record(transaction, number=3)
    clock.now += timedelta(days=40)
    with ThreadPoolExecutor(1) as pool:
        with transaction() as tx:
            assert AuditRepository(tx).remove_expired(older_than=30 * DAY)
            other = pool.submit(drain, transaction, days=30)
            until(lambda: is_blocked(engine), seconds=30.0)
            assert not other.done()
        assert other.result(30) == 2
    assert [(entry.number, entry.action) for entry in entries(transaction)] == [(4, "audit.expired")]
