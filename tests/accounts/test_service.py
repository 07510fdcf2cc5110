from datetime import timedelta
from uuid import UUID

import pytest

from app.accounts.records import KEY_PREFIX, digest
from app.accounts.repository import ApiKeyRepository
from app.accounts.service import ApiKeys
from app.database.pages import PageRequest
from app.errors import ConflictError
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.keys import KEY_SCOPES, ApiKey
from tests.applications import SmallParts
from tests.small_tables import NOW


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
