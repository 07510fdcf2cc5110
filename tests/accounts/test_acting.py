"""Principals in projects, by a copy of the members in memory."""

from dataclasses import replace
from time import monotonic

import anyio
import pytest

from app.accounts import authenticator as subject
from app.accounts.authenticator import MIN_REFRESH_SECONDS, REFRESH_SECONDS, KeyAuthenticator
from app.errors import UnavailableError
from app.identity import LOCAL, Principal
from relevance_bayes.records.accounts import KEY_SCOPES
from tests.accounts.test_authenticator import Time
from tests.applications import SmallParts
from tests.keys import share

VISION = Principal("vision", frozenset({"read", "train"}))


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def authenticator(parts: SmallParts, time: Time) -> KeyAuthenticator:
    return KeyAuthenticator(parts.transaction, needs_keys=True, stale_seconds=60.0, now=time)


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(_: float) -> None: ...

    monkeypatch.setattr(subject, "sleep", at_once)


def acting(
    authenticator: KeyAuthenticator, principal: Principal = VISION, project: bytes = b"acme"
) -> Principal | None:
    return authenticator.known_acting(principal, project) or anyio.run(authenticator.acting, principal, project)


def test_a_principal_acts_with_those_of_its_scopes_that_its_role_permits(
    parts: SmallParts, authenticator: KeyAuthenticator
) -> None:
    share(parts.members, "acme", "vision", "viewer")
    share(parts.members, "labs", "vision", "admin")
    assert acting(authenticator) == Principal("acme", frozenset({"read"}))
    assert acting(authenticator, project=b"labs") == Principal("labs", frozenset({"read", "train"}))
    admin = replace(VISION, scopes=frozenset({"admin"}))
    assert acting(authenticator, admin) == Principal("acme", frozenset({"read", "predict"}))
    assert acting(authenticator, admin, b"labs") == Principal("labs", frozenset(KEY_SCOPES))
    assert acting(authenticator, replace(VISION, scopes=frozenset())) == Principal("acme", frozenset())


def test_it_keeps_what_its_credential_is(parts: SmallParts, authenticator: KeyAuthenticator) -> None:
    share(parts.members, "acme", "vision", "viewer")
    share(parts.members, "labs", "vision", "viewer")
    own = replace(VISION, expires_at=9e9, is_session=True)
    found = acting(authenticator, own)
    assert found is not None
    assert (found.expires_at, found.is_session, found.own, found.credential) == (9e9, True, own, own)
    elsewhere = acting(authenticator, found, b"labs")  # from a project to another one, by its own membership
    assert elsewhere is not None
    assert elsewhere.own is own
    assert acting(authenticator, found, b"vision") is own


def test_equal_principals_of_different_credentials_are_not_confused(
    parts: SmallParts, authenticator: KeyAuthenticator
) -> None:
    share(parts.members, "acme", "vision", "viewer")
    one, other = replace(VISION, expires_at=8e9), replace(VISION, expires_at=9e9)
    assert one == other
    for _ in range(2):
        for own in (one, other):
            found = acting(authenticator, own)
            assert found is not None
            assert found.own is own


def test_a_change_is_seen_after_a_second_at_most_and_a_new_member_at_once(
    parts: SmallParts, authenticator: KeyAuthenticator, time: Time
) -> None:
    assert acting(authenticator) is None
    share(parts.members, "acme", "vision", "editor")
    time.now += MIN_REFRESH_SECONDS + 0.01
    assert acting(authenticator) == Principal("acme", frozenset({"read", "train"}))
    share(parts.members, "acme", "vision", "viewer")
    time.now += REFRESH_SECONDS + 0.01
    assert acting(authenticator) == Principal("acme", frozenset({"read"}))
    parts.members.remove("acme", "vision")
    time.now += REFRESH_SECONDS - 0.02
    assert acting(authenticator) == Principal("acme", frozenset({"read"}))
    time.now += 0.04
    assert acting(authenticator) is None


def test_without_the_database_members_go_on_for_a_while_and_others_are_unknown(
    parts: SmallParts, authenticator: KeyAuthenticator, time: Time
) -> None:
    share(parts.members, "acme", "vision", "viewer")
    assert acting(authenticator) is not None
    parts.stored.reachable = False
    time.now += 59.0
    assert acting(authenticator) is not None
    assert acting(authenticator, project=b"vision") is VISION
    assert acting(authenticator, project=b"labs") is None
    time.now += 2.0
    for project in (b"acme", b"labs", b"vision"):
        for _ in range(2):  # also just after an attempt that failed
            with pytest.raises(UnavailableError):
                acting(authenticator, project=project)
    parts.stored.reachable = True
    time.now += MIN_REFRESH_SECONDS + 0.01
    assert acting(authenticator) is not None


def test_without_the_database_an_open_service_has_its_own_project(parts: SmallParts, time: Time) -> None:
    authenticator = KeyAuthenticator(parts.transaction, stale_seconds=60.0, now=time)
    share(parts.members, "acme", "local", "viewer")
    assert acting(authenticator, LOCAL, b"local") is LOCAL
    assert acting(authenticator, LOCAL) == Principal("acme", frozenset({"read", "predict"}))
    parts.stored.reachable = False
    time.now += 61.0
    assert acting(authenticator, LOCAL, b"local") is LOCAL
    with pytest.raises(UnavailableError):
        acting(authenticator, LOCAL)


def test_the_kept_principals_are_bounded(
    parts: SmallParts, authenticator: KeyAuthenticator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "MAX_ACTING", 2)
    owned = [replace(VISION, expires_at=float(number)) for number in range(5)]
    share(parts.members, "acme", "vision", "viewer")
    for own in (*owned, *owned):
        found = acting(authenticator, own)
        assert found is not None
        assert found.own is own
    assert authenticator._keys is not None
    assert len(authenticator._keys.by_project) <= 2


def test_projects_that_are_not_shared_read_the_database_ten_times_a_second_at_most(
    parts: SmallParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "sleep", anyio.sleep)
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True)
    assert acting(authenticator) is None
    before, began = parts.stored.opened, monotonic()

    async def send_many() -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(authenticator.acting, VISION, b"%d" % number)

    anyio.run(send_many)
    assert parts.stored.opened - before <= 1 + (monotonic() - began) / MIN_REFRESH_SECONDS
