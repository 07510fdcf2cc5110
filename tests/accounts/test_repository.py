from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from app.accounts import repository as subject
from app.accounts.records import digest
from app.accounts.repository import ApiKeyRepository
from app.database.keyset import PageRequest
from app.database.transaction import OpenTransaction
from app.errors import ConflictError
from app.identity import Principal, uuid7
from relevance_bayes.records.accounts import ApiKey, KeyScope
from relevance_bayes.records.errors import NotFoundError
from tests import samples
from tests.transactions import HandClock


def added(
    transaction: OpenTransaction,
    secret: str = "one",
    *,
    owner: str = samples.OWNER,
    scopes: tuple[KeyScope, ...] = ("read",),
    lifetime: timedelta | None = None,
) -> ApiKey:
    with transaction() as tx:
        now = tx.clock()
        expires_at = None if lifetime is None else now + lifetime
        key = ApiKey(str(uuid7()), "CI", "rlv_one", scopes, now, expires_at, revoked_at=None)
        ApiKeyRepository(tx).add(owner, key, digest(secret.encode()))
    return key


def test_a_key_comes_back_as_it_was_added_and_to_its_owner_alone(transaction: OpenTransaction) -> None:
    key = added(transaction, scopes=("predict", "admin"), lifetime=timedelta(days=1))
    with transaction() as tx:
        keys = ApiKeyRepository(tx)
        assert keys.get(samples.OWNER, UUID(key.id)) == key
        assert keys.page(samples.OWNER, PageRequest(10)).items == (key,)
        assert keys.page(samples.STRANGER, PageRequest(10)).items == ()
        for refused in (keys.get, keys.revoke):
            with pytest.raises(NotFoundError, match="no API key"):
                refused(samples.STRANGER, UUID(key.id))
        with pytest.raises(NotFoundError):
            keys.get(samples.OWNER, uuid4())


def test_principals_are_those_of_valid_keys_of_all_owners(transaction: OpenTransaction, clock: HandClock) -> None:
    with transaction() as tx:
        assert ApiKeyRepository(tx).has_any() is False
    mine = added(transaction, "mine", lifetime=timedelta(hours=1))
    added(transaction, "theirs", owner=samples.STRANGER, scopes=("admin",))
    added(transaction, "short", lifetime=timedelta(seconds=30))
    revoked = added(transaction, "revoked")
    with transaction() as tx:
        ApiKeyRepository(tx).revoke(samples.OWNER, UUID(revoked.id))
    clock.now += timedelta(minutes=1)
    with transaction() as tx:
        found = ApiKeyRepository(tx).principals()
    assert set(found) == {digest(b"mine"), digest(b"theirs")}
    assert found[digest(b"mine")] == Principal(samples.OWNER, frozenset({"read"}))
    assert found[digest(b"mine")].key_id == UUID(mine.id)
    assert mine.expires_at is not None
    assert found[digest(b"mine")].expires_at == mine.expires_at.timestamp()
    assert found[digest(b"theirs")].expires_at is None


def test_a_revoked_key_stays_in_the_list_and_is_revoked_once(transaction: OpenTransaction) -> None:
    key = added(transaction)
    with transaction() as tx:
        first = ApiKeyRepository(tx).revoke(samples.OWNER, UUID(key.id))
    with transaction() as tx:
        assert ApiKeyRepository(tx).revoke(samples.OWNER, UUID(key.id)) == first
        assert ApiKeyRepository(tx).page(samples.OWNER, PageRequest(10)).items == (first,)
        assert ApiKeyRepository(tx).has_any()
    assert first.revoked_at is not None


def test_a_key_expires_no_later_than_it_did(transaction: OpenTransaction) -> None:
    key = added(transaction, lifetime=timedelta(hours=1))
    assert key.expires_at is not None
    for change, expected in ((timedelta(hours=1), timedelta()), (-timedelta(minutes=1), -timedelta(minutes=1))):
        with transaction() as tx:
            ApiKeyRepository(tx).expire(samples.OWNER, UUID(key.id), key.expires_at + change)
            assert ApiKeyRepository(tx).get(samples.OWNER, UUID(key.id)).expires_at == key.expires_at + expected


def test_the_same_key_twice_and_one_too_many_are_refused(
    transaction: OpenTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "MAX_KEYS", 2)
    key = added(transaction, "one")
    with pytest.raises(ConflictError, match="such an API key already"):
        added(transaction, "one", owner=samples.STRANGER)
    added(transaction, "two")
    with pytest.raises(ConflictError, match="2 valid API keys, the maximum"):
        added(transaction, "three")
    added(transaction, "three", owner=samples.STRANGER)
    with transaction() as tx:
        ApiKeyRepository(tx).revoke(samples.OWNER, UUID(key.id))
    added(transaction, "four")


def test_changes_are_the_keys_that_were_created_or_revoked_of_late_or_expire_soon(
    transaction: OpenTransaction, clock: HandClock
) -> None:
    added(transaction, "old")
    added(transaction, "lasting", lifetime=timedelta(days=1))
    soon = added(transaction, "soon", lifetime=timedelta(hours=3))
    revoked, moved = added(transaction, "revoked"), added(transaction, "moved", lifetime=timedelta(days=1))
    clock.now += timedelta(hours=2, minutes=59)
    added(transaction, "new")
    with transaction() as tx:
        keys = ApiKeyRepository(tx)
        keys.revoke(samples.OWNER, UUID(revoked.id))
        keys.expire(samples.OWNER, UUID(moved.id), tx.clock())
    with transaction() as tx:
        found = ApiKeyRepository(tx).changes(within=3_600.0, ahead=300.0)
        assert set(found) == {digest(secret) for secret in (b"new", b"revoked", b"moved", b"soon")}
        assert found[digest(b"revoked")] is None
        assert found[digest(b"moved")] is None
        expiring = found[digest(b"soon")]
        assert expiring is not None
        assert soon.expires_at is not None
        assert expiring.expires_at == soon.expires_at.timestamp()
        assert ApiKeyRepository(tx).changes(within=0.0, ahead=0.0) == {}
