from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import count

import anyio
import pytest
from sqlalchemy import text

from app.accounts import repository as subject
from app.accounts.authenticator import KeyAuthenticator
from app.accounts.records import ROLE_SCOPES, digest
from app.accounts.repository import MemberRepository, SessionRepository
from app.database.transaction import OpenTransaction
from app.errors import ConflictError
from app.identity import Principal
from relevance_bayes.records.accounts import KEY_SCOPES
from relevance_bayes.records.errors import InvalidRequestError, NotFoundError
from relevance_bayes.records.members import ROLES, Member, Role
from tests import samples
from tests.transactions import HandClock

OWNER, STRANGER = samples.OWNER, samples.STRANGER


def put(transaction: OpenTransaction, subject: str, role: Role = "viewer", *, owner: str = OWNER) -> bool:
    """Have a member; the result is whether it was invited now."""
    with transaction() as tx:
        is_new = MemberRepository(tx).put(owner, subject, role)
        MemberRepository(tx).accept(owner, subject)
        return is_new


def test_a_member_comes_back_as_it_was_put_and_to_its_owner_alone(
    transaction: OpenTransaction, clock: HandClock
) -> None:
    at = clock.now + timedelta(seconds=2)
    assert put(transaction, "vision", "editor") is True
    assert put(transaction, "vision", "admin") is False
    with transaction() as tx:
        members = MemberRepository(tx)
        assert members.get(OWNER, "vision") == Member("vision", "admin", at)
        assert members.page(OWNER, limit=9, after=None).items == (Member("vision", "admin", at),)
        assert members.page(STRANGER, limit=9, after=None).items == ()
        for refused in (members.get, members.remove):
            with pytest.raises(NotFoundError, match="no member 'vision'"):
                refused(STRANGER, "vision")
        members.remove(OWNER, "vision")
        with pytest.raises(NotFoundError):
            members.get(OWNER, "vision")


def test_members_are_listed_by_subject_page_by_page(transaction: OpenTransaction) -> None:
    names = [f"team {number:02d}" for number in range(7)]
    for name in reversed(names):
        put(transaction, name)
    found: list[str] = []
    after: str | None = None
    with transaction() as tx:
        while not found or after is not None:
            page = MemberRepository(tx).page(OWNER, limit=3, after=after)
            found += [member.subject for member in page.items]
            after = page.next
        with pytest.raises(InvalidRequestError):
            MemberRepository(tx).page(OWNER, limit=3, after="x")
    assert found == names


def test_projects_are_the_own_one_and_those_of_others_by_name(transaction: OpenTransaction) -> None:
    roles: Mapping[str, Role] = {"a": "viewer", "z": "admin", "b": "editor"}
    for owner, role in roles.items():
        put(transaction, "me", role, owner=owner)
    put(transaction, "you", "admin", owner="c")
    put(transaction, "you", "admin", owner="me")
    with transaction() as tx:
        members = MemberRepository(tx)
        expected: Sequence[tuple[str, str]] = [("a", "viewer"), ("b", "editor"), ("me", "owner"), ("z", "admin")]
        first = members.projects("me", limit=3, after=None)
        second = members.projects("me", limit=3, after=first.next)
        assert [*first.items, *second.items] == expected
        assert (first.next is None, second.next) == (False, None)
        assert members.projects("nobody", limit=3, after=None).items == (("nobody", "owner"),)


def test_permissions_are_those_of_the_roles_of_all_members(transaction: OpenTransaction) -> None:
    for role in ROLES:
        put(transaction, role, role)
    put(transaction, OWNER, "viewer", owner=STRANGER)
    with transaction() as tx:
        found = MemberRepository(tx).permissions()
    of_owner = {(OWNER, str(role)): ROLE_SCOPES[role] for role in ROLES}
    assert found == of_owner | {(STRANGER, OWNER): ROLE_SCOPES["viewer"]}


def test_a_role_of_a_later_release_permits_nothing_and_keeps_nobody_else_out(transaction: OpenTransaction) -> None:
    put(transaction, "known")
    put(transaction, "unknown")
    with transaction() as tx:
        tx.session.execute(text("UPDATE members SET role = 'auditor' WHERE subject = 'unknown'"))
        assert MemberRepository(tx).permissions() == {
            (OWNER, "known"): ROLE_SCOPES["viewer"],
            (OWNER, "unknown"): frozenset(),
        }


def test_each_role_permits_more_than_the_one_before_and_none_more_than_all_scopes() -> None:
    assert ROLE_SCOPES["viewer"] < ROLE_SCOPES["editor"] < ROLE_SCOPES["admin"] == frozenset(KEY_SCOPES)
    assert "admin" not in ROLE_SCOPES["editor"]
    assert set(ROLE_SCOPES) == set(ROLES)


def test_the_members_of_a_project_are_bounded(transaction: OpenTransaction, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "MAX_MEMBERS", 2)
    assert put(transaction, "one")
    assert put(transaction, "two")
    with pytest.raises(ConflictError, match="2 members, the maximum"):
        put(transaction, "three")
    assert put(transaction, "two", "admin") is False
    assert put(transaction, "three", owner=STRANGER)


def test_a_session_in_a_project_has_the_role_of_now_and_none_without_membership(transaction: OpenTransaction) -> None:
    put(transaction, "vision", "admin")
    own = Principal("vision", frozenset({"read", "train"}))
    with transaction() as tx:
        acting = own.acting_in(OWNER, ROLE_SCOPES["admin"])
        expires_at = tx.clock() + timedelta(days=36_500)
        SessionRepository(tx).add(digest(b"one"), acting, expires_at)
        SessionRepository(tx).add(digest(b"two"), own, expires_at)
    times = count(0.0, 10.0)
    authenticator = KeyAuthenticator(transaction, needs_keys=True, now=times.__next__)

    def found() -> list[tuple[str, set[str], Principal] | None]:
        principals = [anyio.run(authenticator.authenticate, [], secret) for secret in (b"one", b"two")]
        return [None if one is None else (one.owner, set(one.scopes), one.credential) for one in principals]

    of_own = ("vision", {"read", "train"}, own)
    assert found() == [(OWNER, {"read", "train"}, own), of_own]
    put(transaction, "vision", "viewer")
    assert found() == [(OWNER, {"read"}, own), of_own]
    with transaction() as tx:
        MemberRepository(tx).remove(OWNER, "vision")
    assert found() == [None, of_own]


def test_a_member_with_a_role_of_a_later_release_is_not_shown_and_can_get_another_role_or_be_removed(
    transaction: OpenTransaction,
) -> None:
    for name in ("alice", "bob", "carol"):
        put(transaction, name)
    with transaction() as tx:
        tx.session.execute(text("UPDATE members SET role = 'auditor' WHERE subject <> 'bob'"))
    with transaction() as tx:
        members = MemberRepository(tx)
        assert [one.subject for one in members.page(OWNER, limit=1, after=None).items] == ["bob"]
        assert members.page(OWNER, limit=1, after=None).next is None
        assert members.projects("alice", limit=9, after=None).items == (("alice", "owner"),)
        with pytest.raises(NotFoundError):
            members.get(OWNER, "alice")
        members.remove(OWNER, "alice")
    assert put(transaction, "carol", "editor") is False
    with transaction() as tx:
        assert [one.subject for one in MemberRepository(tx).page(OWNER, limit=9, after=None).items] == ["bob", "carol"]


def invite(transaction: OpenTransaction, subject: str, role: Role = "viewer") -> bool:
    with transaction() as tx:
        return MemberRepository(tx).put(OWNER, subject, role)


def test_an_owner_that_is_invited_is_no_member_before_it_accepts(transaction: OpenTransaction) -> None:
    assert invite(transaction, "vision", "admin") is True
    assert invite(transaction, "vision", "editor") is False
    with transaction() as tx:
        members = MemberRepository(tx)
        assert members.permissions() == {}
        assert members.page(OWNER, limit=9, after=None).items == ()
        (invited,) = members.page(OWNER, limit=9, after=None, state="invited").items
        assert (invited.subject, invited.role, invited.state) == ("vision", "editor", "invited")
        assert members.get(OWNER, "vision") == invited
        assert members.projects("vision", limit=9, after=None).items == (("vision", "owner"),)
        assert members.projects("vision", limit=9, after=None, state="invited").items == ((OWNER, "editor"),)
        for owner, name in ((OWNER, "stranger"), (STRANGER, "vision")):
            with pytest.raises(NotFoundError, match="no membership of a project"):
                members.accept(owner, name)
        members.accept(OWNER, "vision")
        members.accept(OWNER, "vision")
        assert members.get(OWNER, "vision").state == "member"
        assert members.page(OWNER, limit=9, after=None, state="invited").items == ()
        assert members.permissions() == {(OWNER, "vision"): ROLE_SCOPES["editor"]}


def test_an_invitation_is_withdrawn_and_counts_among_the_members(
    transaction: OpenTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "MAX_MEMBERS", 2)
    put(transaction, "one")
    invite(transaction, "two")
    with pytest.raises(ConflictError, match="2 members, the maximum"):
        invite(transaction, "three")
    with transaction() as tx:
        MemberRepository(tx).remove(OWNER, "two")
        with pytest.raises(NotFoundError):
            MemberRepository(tx).accept(OWNER, "two")
    assert invite(transaction, "three")
