"""The heads of all chains, outside the database, show what who can write to the database has changed there."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.audit.heads import HeadFile, Heads, HeadWriter, digest_of, read_heads, read_key
from app.audit.records import ChainHead, hash_of
from app.audit.repository import AuditRepository
from app.audit.service import Audit
from app.database.transaction import OpenTransaction
from tests.audit.test_repository import DAY, OWNER, drain, entries, execute, record
from tests.transactions import HandClock

KEY = b"k" * 32
RETENTION = round(30 * DAY)
CHANGED = "resource = :r, previous_hash = :p, hash = :h"
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "heads.ndjson"


@pytest.fixture
def seal(transaction: OpenTransaction, clock: HandClock, path: Path) -> Callable[[], None]:
    """Append the heads of all chains, at the time of the clock."""
    file = HeadFile(path, KEY)
    writer = HeadWriter(Audit(transaction).heads, file, RETENTION, now=lambda: clock.now)
    return writer.write


def faults(transaction: OpenTransaction, path: Path, owner: str = OWNER) -> tuple[str, ...]:
    """The faults that the heads show; without them, the chain is valid by itself."""
    audit, heads = Audit(transaction), read_heads(path, KEY)
    assert heads.faults == []
    assert audit.verify(owner).faults == ()
    return audit.verify(owner, heads=heads).faults


def test_what_is_as_it_was_recorded_has_no_fault(
    transaction: OpenTransaction, path: Path, seal: Callable[[], None]
) -> None:
    for _ in range(3):
        record(transaction, number=2)
        record(transaction, owner="bob")
        seal()
    seal()
    assert faults(transaction, path) == faults(transaction, path, "bob") == ()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["number"] for line in lines] == [1, 2, 3, 4]
    assert [head["number"] for line in lines for head in line["chains"] if head["owner"] == OWNER] == [2, 4, 6]
    assert lines[3]["chains"] == []
    assert lines[3]["digest"] == lines[2]["digest"] == digest_of(Audit(transaction).heads())


def test_newest_entries_that_were_deleted_with_their_record_are_found(
    transaction: OpenTransaction, engine: Engine, path: Path, seal: Callable[[], None]
) -> None:
    record(transaction, number=5)
    seal()
    execute(engine, "DELETE FROM audit_entries WHERE number > 3")
    execute(engine, "UPDATE audit_chains SET number = 3, hash = :hash", hash=entries(transaction)[-1].hash)
    assert faults(transaction, path) == ("Entries are missing at the end: there is a checkpoint of entry 5.",)
    seal()
    assert faults(transaction, path) == ("Entries are missing at the end: there is a checkpoint of entry 5.",)
    record(transaction, number=2)
    seal()
    assert faults(transaction, path) == (
        "Entry 5 was replaced: two checkpoints have different hashes.",
        "Entry 5 was replaced: the checkpoint has another hash.",
    )


def test_a_chain_that_was_deleted_with_its_owner_is_found(
    transaction: OpenTransaction, engine: Engine, path: Path, seal: Callable[[], None]
) -> None:
    record(transaction)
    record(transaction, owner="bob", number=2)
    seal()
    for table in ("audit_entries", "audit_chains"):
        execute(engine, f"DELETE FROM {table} WHERE owner = 'bob'")
    expected = "Entries are missing at the end: there is a checkpoint of entry 2."
    assert faults(transaction, path, "bob") == (expected,)
    assert set(read_heads(path, KEY).latest) == {OWNER, "bob"}
    seal()
    (fault,) = read_heads(path, KEY).faults
    assert fault.startswith("A chain of an earlier line was missing in the database at ")


def test_hashes_that_were_computed_anew_are_found(
    transaction: OpenTransaction, engine: Engine, path: Path, seal: Callable[[], None]
) -> None:
    record(transaction, number=5)
    seal()
    previous = ""
    for entry in entries(transaction):
        if entry.number >= 3:
            changed = replace(entry, resource="/v1/models/other", previous_hash=previous)
            entry = replace(changed, hash=hash_of(changed))
            values = {"p": entry.previous_hash, "h": entry.hash, "n": entry.number, "r": entry.resource}
            execute(
                engine,
                "UPDATE audit_entries SET resource = :r, previous_hash = :p, hash = :h WHERE number = :n",
                **values,
            )
        previous = entry.hash
    execute(engine, "UPDATE audit_chains SET hash = :hash", hash=previous)
    assert faults(transaction, path) == ("Entry 5 was replaced: the checkpoint has another hash.",)


@pytest.mark.parametrize("days_ahead", [0, 400])
def test_an_expiry_that_was_made_up_is_found(
    days_ahead: int,
    transaction: OpenTransaction,
    clock: HandClock,
    engine: Engine,
    path: Path,
    seal: Callable[[], None],
) -> None:
    record(transaction)
    seal()
    clock.now += timedelta(days=2)
    record(transaction, number=3)
    seal()
    begun = clock.now
    last_hash = entries(transaction)[1].hash
    clock.now += timedelta(days=days_ahead)
    with transaction() as tx:
        tx.record("audit.expired", OWNER, "/v1/audit", through=2, hash=last_hash)
    execute(engine, "DELETE FROM audit_entries WHERE number <= 2")
    clock.now = begun
    seal()
    (fault,) = faults(transaction, path)
    assert fault.startswith("Entry 5 is about the expiry of entries up to 2, which were at most 172")
    assert f"they are kept for {RETENTION} s" in fault


def test_an_expiry_with_another_hash_than_the_head_is_found(
    transaction: OpenTransaction, path: Path, seal: Callable[[], None]
) -> None:
    record(transaction, number=2)
    seal()
    with transaction() as tx:
        tx.record("audit.expired", OWNER, "/v1/audit", through=2, hash="f" * 64)
    assert faults(transaction, path) == ("Entry 3 has another hash of entry 2 than the checkpoint.",)


def test_expiry_by_retention_has_no_fault(
    transaction: OpenTransaction, clock: HandClock, path: Path, seal: Callable[[], None]
) -> None:
    record(transaction, number=4)
    seal()
    clock.now += timedelta(days=15)
    record(transaction)
    seal()
    clock.now += timedelta(days=17)
    drain(transaction, days=30)
    seal()
    assert [entry.number for entry in entries(transaction)] == [5, 6]
    assert faults(transaction, path) == ()


def made_lines(path: Path, number: int) -> list[bytes]:
    file = HeadFile(path, KEY)
    for index in range(number):
        heads = [ChainHead("alice", index + 1, f"{index:064x}"), ChainHead("bob", 1, "b" * 64)]
        file.append(heads, AT + timedelta(minutes=index), retention_seconds=60)
    return path.read_bytes().splitlines(keepends=True)


SPOILED: dict[str, tuple[Callable[[Sequence[bytes]], Sequence[bytes]], str]] = {
    "changed": (lambda lines: [lines[0], lines[1].replace(b'"number":2', b'"number":3', 1), *lines[2:]], "was changed"),
    "left out": (lambda lines: [lines[0], *lines[2:]], "does not follow the line before"),
    "the first left out": (lambda lines: lines[1:], "does not follow the line before"),
    "repeated": (lambda lines: [*lines[:2], *lines[1:]], "does not follow the line before"),
    "exchanged": (lambda lines: [lines[1], lines[0], *lines[2:]], "does not follow the line before"),
    "no JSON": (lambda lines: [*lines, b"no JSON\n"], "can't be read"),
}


@pytest.mark.parametrize("way", SPOILED)
def test_a_file_that_was_changed_is_found(way: str, path: Path) -> None:
    lines = made_lines(path, 4)
    assert read_heads(path, KEY).faults == []
    spoil, expected = SPOILED[way]
    path.write_bytes(b"".join(spoil(lines)))
    assert any(expected in fault for fault in read_heads(path, KEY).faults)


def test_another_key_verifies_no_line(path: Path) -> None:
    made_lines(path, 2)
    assert len(read_heads(path, b"x" * 32).faults) == 2


def test_the_beginning_of_a_line_whose_writer_was_killed_is_replaced(path: Path) -> None:
    lines = made_lines(path, 2)
    path.write_bytes(lines[0] + lines[1][:-20])
    assert len(read_heads(path, KEY).times) == 1
    HeadFile(path, KEY).append([], AT, retention_seconds=60)
    heads = read_heads(path, KEY)
    assert (len(heads.times), heads.latest["alice"].number) == (2, 1)
    assert [fault for fault in heads.faults if "missing in the database" not in fault] == []


def test_several_processes_write_one_chain_of_lines(path: Path) -> None:
    files = [HeadFile(path, KEY) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(file.append, [], AT, retention_seconds=60) for file in files * 10]:
            future.result()
    heads = read_heads(path, KEY)
    assert (len(heads.times), heads.faults) == (40, [])


def test_the_times_between_which_an_entry_was_made_are_those_of_two_lines(path: Path) -> None:
    made_lines(path, 3)
    heads = read_heads(path, KEY)
    assert heads.not_before("alice", 1) is None
    assert heads.not_before("alice", 3) == AT + timedelta(minutes=1)
    assert heads.not_after("alice", 3) == (AT + timedelta(minutes=2), 60)
    assert heads.not_before("alice", 4) == AT + timedelta(minutes=2)
    assert heads.not_after("alice", 4) is None
    assert Heads(KEY).not_before("alice", 1) is None


def test_lines_that_could_not_be_sent_are_sent_with_the_next(path: Path) -> None:
    received: list[bytes] = []
    is_away = True

    def send(line: bytes) -> None:
        if is_away:
            raise OSError("the receiver is away")
        received.append(line)

    writer = HeadWriter(tuple, HeadFile(path, KEY), 60.0, send=send, now=lambda: AT)
    writer.write()
    writer.write()
    is_away = False
    writer.write()
    assert b"".join(received) == path.read_bytes()
    assert len(received) == 3


def test_a_key_is_long_enough(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(b" " + KEY + b"\n")
    assert read_key(file) == KEY
    file.write_bytes(KEY[1:] + b"\n")
    with pytest.raises(ValueError, match="at least 32 bytes"):
        read_key(file)


def test_the_heads_of_the_repository_are_those_of_all_chains(transaction: OpenTransaction) -> None:
    record(transaction, number=2)
    record(transaction, owner="bob")
    with transaction() as tx:
        heads = AuditRepository(tx).heads()
    assert {(head.owner, head.number) for head in heads} == {(OWNER, 2), ("bob", 1)}
