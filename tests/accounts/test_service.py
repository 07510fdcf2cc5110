from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from app.accounts.records import KEY_PREFIX, digest
from app.accounts.repository import ApiKeyRepository, SessionRepository
from app.accounts.service import ApiKeys, Sessions
from app.database.keyset import PageRequest
from app.errors import ConflictError
from app.identity import LOCAL, Principal, uuid7
from relevance_bayes.records.accounts import KEY_SCOPES, ApiKey
from relevance_bayes.records.errors import InvalidRequestError
from tests.applications import SmallParts
from tests.small_tables import NOW

HOUR = 3600.0
OF_TOKEN = Principal("acme", frozenset({"read"}), NOW.timestamp() + HOUR)


@pytest.fixture
def keys(parts: SmallParts) -> ApiKeys:
    return parts.keys


def digests(keys: ApiKeys) -> set[bytes]:
    with keys.transaction() as tx:
        return set(ApiKeyRepository(tx).principals())


def test_a_secret_has_256_bits_and_its_digest_alone_is_stored(keys: ApiKeys) -> None:
    key, secret = keys.create("acme", "CI")
    assert secret.startswith(KEY_PREFIX)
    assert len(secret) == len(KEY_PREFIX) + 43
    assert secret.startswith(key.prefix)
    assert len(key.prefix) == 10
    assert keys.create("acme", "CI")[1] != secret
    assert digest(secret.encode()) in digests(keys)
    assert key == ApiKey(key.id, "CI", key.prefix, ("predict", "read", "train"), NOW, None, None)


@pytest.mark.parametrize("name", ["", " CI", "C\nI", "x" * 101])
def test_a_name_is_printable_text(keys: ApiKeys, name: str) -> None:
    with pytest.raises(InvalidRequestError, match="a name of 1 to 100 printable characters"):
        keys.create("acme", name)
    with pytest.raises(InvalidRequestError, match="an owner of 1 to 100 printable characters"):
        keys.create(name, "CI")


def test_a_key_without_scopes_or_of_the_past_is_refused(keys: ApiKeys) -> None:
    with pytest.raises(InvalidRequestError, match="at least one scope"):
        keys.create("acme", "CI", scopes=())
    with pytest.raises(InvalidRequestError, match="in the future, got 2024-05-01T12:00:00"):
        keys.create("acme", "CI", expires_at=NOW)


def test_rotation_makes_a_successor_and_lets_both_be_valid_for_the_overlap(keys: ApiKeys) -> None:
    old, secret = keys.create("acme", "CI", scopes=("predict",), expires_at=NOW + timedelta(days=90))
    new, successor = keys.rotate("acme", UUID(old.id), overlap=timedelta(hours=2))
    assert (new.name, new.scopes, new.expires_at) == ("CI", ("predict",), NOW + timedelta(days=90))
    assert keys.get("acme", UUID(old.id)).expires_at == NOW + timedelta(hours=2)
    assert {digest(secret.encode()), digest(successor.encode())} <= digests(keys)


def test_rotation_without_overlap_ends_the_old_key_at_once(keys: ApiKeys) -> None:
    old, secret = keys.create("acme", "CI")
    keys.rotate("acme", UUID(old.id), overlap=timedelta())
    assert digest(secret.encode()) not in digests(keys)


def test_a_key_that_is_not_valid_is_not_rotated(keys: ApiKeys) -> None:
    old, _ = keys.create("acme", "CI")
    keys.revoke("acme", UUID(old.id))
    with pytest.raises(ConflictError, match="revoked or has expired"):
        keys.rotate("acme", UUID(old.id), overlap=timedelta(hours=1))
    assert len(keys.page("acme", PageRequest(10)).items) == 1


def test_the_initial_key_has_all_scopes_and_comes_to_a_database_without_keys_alone(keys: ApiKeys) -> None:
    assert keys.add_initial("chosen by an operator") is True
    assert keys.add_initial("chosen again by one") is False
    (key,) = keys.page("local", PageRequest(10)).items
    assert (key.name, key.scopes) == ("initial", KEY_SCOPES)
    assert digests(keys) == {digest(b"chosen by an operator")}


@pytest.fixture
def sessions(parts: SmallParts) -> Sessions:
    return Sessions(parts.transaction, 8 * HOUR)


def of_key(parts: SmallParts, lifetime: timedelta | None = None) -> Principal:
    key, _ = parts.keys.create("acme", "CI", scopes=("read",), expires_at=None if lifetime is None else NOW + lifetime)
    return Principal(
        "acme", frozenset({"read"}), None if key.expires_at is None else key.expires_at.timestamp(), UUID(key.id)
    )


def test_a_sessions_secret_has_256_bits_and_its_digest_alone_is_stored(parts: SmallParts, sessions: Sessions) -> None:
    principal = of_key(parts)
    secret, created = sessions.create(principal)
    assert len(secret) == 43
    assert sessions.create(principal)[0] != secret
    with parts.transaction() as tx:
        stored = SessionRepository(tx).principals()
    assert digest(secret.encode()) in stored
    assert secret.encode() not in stored
    assert (created, created.key_id, created.is_session) == (principal, principal.key_id, True)


def test_a_session_ends_no_later_than_its_key_or_token(parts: SmallParts, sessions: Sessions) -> None:
    for principal, seconds in (
        (of_key(parts), 8 * HOUR),
        (of_key(parts, timedelta(hours=9)), 8 * HOUR),
        (of_key(parts, timedelta(hours=2)), 2 * HOUR),
        (OF_TOKEN, HOUR),
    ):
        _, created = sessions.create(principal)
        assert created.expires_at == NOW.timestamp() + seconds


def test_nothing_is_exchanged_but_a_key_or_token_that_is_valid(sessions: Sessions) -> None:
    for principal, detail in (
        (LOCAL, "needs no API key"),
        (replace(OF_TOKEN, is_session=True), "got a session alone"),
        (replace(OF_TOKEN, expires_at=NOW.timestamp()), "has expired"),
        (Principal("acme", key_id=uuid7(), expires_at=NOW.timestamp() - HOUR), "has expired"),
    ):
        with pytest.raises(ConflictError, match=detail):
            sessions.create(principal)


def test_a_session_that_replaces_another_ends_when_that_would_have_and_only_once(
    parts: SmallParts, sessions: Sessions
) -> None:
    secret, principal = sessions.create(OF_TOKEN)
    other = principal.acting_in("vision", frozenset({"read"}))
    replacing, created = sessions.create(other, replaced=secret.encode())
    assert created.expires_at == principal.expires_at
    with parts.transaction() as tx:
        stored = SessionRepository(tx).principals()
    assert {one.owner for one in stored.values()} == {"vision"}
    assert digest(replacing.encode()) in stored
    with pytest.raises(ConflictError, match="has ended"):
        sessions.create(other, replaced=secret.encode())
    with parts.transaction() as tx:
        assert SessionRepository(tx).principals().keys() == stored.keys()


def test_a_session_ends_once(parts: SmallParts, sessions: Sessions) -> None:
    secret, _ = sessions.create(OF_TOKEN)
    for _ in range(2):
        sessions.end(secret.encode())
        with parts.transaction() as tx:
            assert SessionRepository(tx).principals() == {}
