from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from app.accounts.records import digest
from app.accounts.session_repository import SessionRepository
from app.accounts.session_service import Sessions
from app.errors import ConflictError
from app.identity import LOCAL, Principal, uuid7
from tests.applications import SmallParts
from tests.small_tables import NOW

HOUR = 3600.0
OF_TOKEN = Principal("acme", frozenset({"read"}), NOW.timestamp() + HOUR)


@pytest.fixture
def sessions(parts: SmallParts) -> Sessions:
    return Sessions(parts.transaction, 8 * HOUR)


def of_key(parts: SmallParts, lifetime: timedelta | None = None) -> Principal:
    key, _ = parts.keys.create("acme", "CI", scopes=("read",), expires_at=None if lifetime is None else NOW + lifetime)
    return Principal(
        "acme", frozenset({"read"}), None if key.expires_at is None else key.expires_at.timestamp(), UUID(key.id)
    )


def test_a_secret_has_256_bits_and_its_digest_alone_is_stored(parts: SmallParts, sessions: Sessions) -> None:
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
