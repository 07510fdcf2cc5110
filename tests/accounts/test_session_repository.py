from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine, text

from app.accounts import repository as subject
from app.accounts.records import digest
from app.accounts.repository import SessionRepository
from app.database.transaction import OpenTransaction
from app.identity import Principal
from app.jobs.queue.client import EndedEntries
from app.services import Retention
from relevance_bayes.records.accounts import ApiKey
from tests import samples
from tests.accounts.test_repository import added as added_key
from tests.transactions import HandClock

OF_TOKEN = Principal(samples.OWNER, frozenset({"read", "train"}))


def of_key(key: ApiKey) -> Principal:
    return Principal(samples.OWNER, frozenset(key.scopes), key_id=UUID(key.id))


def added(
    transaction: OpenTransaction,
    secret: str,
    principal: Principal = OF_TOKEN,
    *,
    lifetime: timedelta = timedelta(hours=8),
) -> float:
    """Add a session; return when it expires."""
    with transaction() as tx:
        expires_at = tx.clock() + lifetime
        SessionRepository(tx).add(digest(secret.encode()), principal, expires_at)
    return expires_at.timestamp()


def found(transaction: OpenTransaction) -> dict[bytes, Principal]:
    with transaction() as tx:
        return dict(SessionRepository(tx).principals())


def test_a_session_has_the_owner_the_scopes_and_the_key_it_was_made_with(transaction: OpenTransaction) -> None:
    key = added_key(transaction, scopes=("predict", "admin"))
    expires_at = added(transaction, "one", of_key(key))
    added(transaction, "two")
    sessions = found(transaction)
    assert set(sessions) == {digest(b"one"), digest(b"two")}
    one, two = sessions[digest(b"one")], sessions[digest(b"two")]
    assert (one, one.expires_at, one.key_id, one.is_session) == (of_key(key), expires_at, UUID(key.id), True)
    assert (two, two.key_id, two.is_session) == (OF_TOKEN, None, True)


def test_a_session_ends_at_its_time_or_on_request(transaction: OpenTransaction, clock: HandClock) -> None:
    for secret, minutes in (("short", 1), ("long", 60), ("ended", 60)):
        added(transaction, secret, lifetime=timedelta(minutes=minutes))
    assert set(found(transaction)) == {digest(b"short"), digest(b"long"), digest(b"ended")}
    clock.now += timedelta(minutes=1)
    with transaction() as tx:
        assert SessionRepository(tx).end(digest(b"ended")) == samples.OWNER
        assert SessionRepository(tx).end(digest(b"ended")) is None
        assert SessionRepository(tx).end(digest(b"unknown")) is None
    assert set(found(transaction)) == {digest(b"long")}


def test_changes_are_the_sessions_that_were_created_or_ended_of_late(
    transaction: OpenTransaction, engine: Engine
) -> None:
    for secret in ("old", "ended", "new"):
        added(transaction, secret)
    change = text("UPDATE sessions SET changed_at = :at WHERE digest <> :new")
    with engine.begin() as connection:
        connection.execute(change, {"at": "2020-01-01 00:00:00.000000", "new": digest(b"new")})
    with transaction() as tx:
        SessionRepository(tx).end(digest(b"ended"))
    with transaction() as tx:
        changes = SessionRepository(tx).changes(within=60.0)
        assert changes == {digest(b"new"): OF_TOKEN, digest(b"ended"): None}
        assert SessionRepository(tx).changes(within=-60.0) == {}


def test_a_session_that_ended_is_deleted_once_all_processes_have_read_it(
    transaction: OpenTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(transaction, "ended")
    added(transaction, "valid")
    with transaction() as tx:
        SessionRepository(tx).end(digest(b"ended"))
    for kept_seconds, changes in ((60.0, 2), (-60.0, 1)):
        monkeypatch.setattr(subject, "KEPT_SECONDS", kept_seconds)
        with transaction() as tx:
            SessionRepository(tx).remove_expired()
        with transaction() as tx:
            assert len(SessionRepository(tx).changes(within=60.0)) == changes


def test_the_oldest_session_of_a_key_makes_way_for_one_more(
    transaction: OpenTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "MAX_SESSIONS", 2)
    one, other = of_key(added_key(transaction, "one")), of_key(added_key(transaction, "other"))
    for secret, principal in (
        ("first", one),
        ("of another key", other),
        ("of a token", OF_TOKEN),
        ("of another owner", Principal(samples.STRANGER)),
        ("second", one),
        ("third", one),
    ):
        added(transaction, secret, principal)
    assert digest(b"first") not in found(transaction)
    assert len(found(transaction)) == 5
    for secret in ("second token", "third token"):
        added(transaction, secret)
    assert digest(b"of a token") not in found(transaction)
    assert len(found(transaction)) == 6


def test_expired_sessions_are_removed_some_at_a_time(
    transaction: OpenTransaction, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "AT_ONCE", 2)
    for number in range(3):
        added(transaction, f"short {number}", lifetime=timedelta(minutes=1))
    added(transaction, "long")
    clock.now += timedelta(minutes=2)
    for has_more in (True, False, False):
        with transaction() as tx:
            assert SessionRepository(tx).remove_expired() is has_more
    clock.now -= timedelta(minutes=2)
    assert set(found(transaction)) == {digest(b"long")}


class NoEntries(EndedEntries):
    """A queue without ended entries, and without a client."""

    def __init__(self) -> None:
        pass

    def ended(self, *, before: datetime, skip: int, limit: int) -> Sequence[UUID]:
        return ()

    def forget(self, entries: Sequence[UUID]) -> None:
        raise AssertionError(entries)


def test_retention_removes_expired_sessions(transaction: OpenTransaction, clock: HandClock) -> None:
    added(transaction, "short", lifetime=timedelta(minutes=1))
    added(transaction, "long")
    clock.now += timedelta(minutes=2)
    Retention(transaction, NoEntries(), clock, 60.0, 60.0, 60.0, 60.0).remove_expired()
    clock.now -= timedelta(minutes=3)
    assert set(found(transaction)) == {digest(b"long")}
