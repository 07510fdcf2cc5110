"""The repository of the members of projects."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias
from urllib.parse import quote

from sqlalchemy import ColumnElement, Select, delete, func, literal, select, union_all

from app.accounts.records import MAX_MEMBERS, permitted_scopes
from app.accounts.tables import PROJECT_ROLE, ROLE, InvitationRow, MemberRow
from app.database import keyset
from app.database.base import changed, insertion
from app.database.engine import lock_for_writing
from app.database.keyset import KeysetPage
from app.database.transaction import Transaction
from app.errors import ConflictError
from relevance_bayes.records.audit import AuditAction
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.keys import KeyScope
from relevance_bayes.records.members import ROLES, Member, MemberState, ProjectRole, Role

Rows: TypeAlias = type[MemberRow] | type[InvitationRow]

ROWS: Mapping[MemberState, Rows] = {"member": MemberRow, "invited": InvitationRow}
"""The tables of members and of those that are invited; nobody is in both."""


@dataclass(frozen=True)
class MemberRepository:
    """The members of all owners' projects, and the owners that are invited.

    A role that only a later release knows permits nothing in this one: who has it is not shown as a member, and may be
    given another role, or removed.
    """

    tx: Transaction

    def get(self, owner: str, subject: str) -> Member:
        """Return a member, or an owner that is invited; raises NotFoundError."""
        for state, table in ROWS.items():
            mine = _columns(table).where(*_is(table, owner, subject), table.role.in_(ROLES))
            row = self.tx.session.execute(mine).one_or_none()
            if row is not None:
                return _member(state, *row)
        raise _no_such_member(subject)

    def page(self, owner: str, *, limit: int, after: str | None, state: MemberState = "member") -> KeysetPage[Member]:
        """Return a page of members, or of those that are invited, by subject.

        Raises InvalidRequestError for an invalid cursor.
        """
        table = ROWS[state]
        query = _columns(table).where(table.owner == owner, table.role.in_(ROLES)).order_by(table.subject)
        if after is not None:
            query = query.where(table.subject > keyset.read_name(after))
        rows = self.tx.session.execute(query.limit(limit + 1)).all()
        return keyset.page(rows, limit, lambda row: _member(state, *row), lambda row: row.subject)

    def put(self, owner: str, subject: str, role: Role) -> bool:
        """Invite an owner, or change the role of one that is invited or a member; return whether it is new.

        Raises ConflictError above MAX_MEMBERS, invitations included.
        """
        lock_for_writing(self.tx.session.connection())
        table: Rows = InvitationRow if self._role(MemberRow, owner, subject) is None else MemberRow
        present = self._role(table, owner, subject)
        if present == role:
            return False
        is_new = present is None
        if is_new and sum(self._count(one, owner) for one in ROWS.values()) >= MAX_MEMBERS:
            raise ConflictError(f"The project has {MAX_MEMBERS:,} members, the maximum: remove one first.")
        self._put(table, owner, subject, role)
        action: AuditAction = "member.invited" if is_new else "member.updated"
        self.tx.record(action, owner, member_path(subject), role=role)
        return is_new

    def accept(self, owner: str, subject: str) -> None:
        """Make an owner that is invited a member; one that is a member stays it. Raises NotFoundError."""
        lock_for_writing(self.tx.session.connection())
        invited = delete(InvitationRow).where(*_is(InvitationRow, owner, subject), InvitationRow.role.in_(ROLES))
        role = self.tx.session.scalar(invited.returning(InvitationRow.role))
        if role is not None:
            self._put(MemberRow, owner, subject, role)
            self.tx.record("member.created", owner, member_path(subject), role=role)
            self.tx.record("project.joined", subject, project_path(owner), role=role)
        elif self._role(MemberRow, owner, subject) is None:
            raise no_such_project(owner)

    def remove(self, owner: str, subject: str) -> None:
        """Delete a member or an invitation; raises NotFoundError."""
        removed = [
            changed(self.tx.session, delete(table).where(*_is(table, owner, subject))) for table in ROWS.values()
        ]
        if not any(removed):
            raise _no_such_member(subject)
        self.tx.record("member.deleted", owner, member_path(subject))

    def projects(
        self, subject: str, *, limit: int, after: str | None, state: MemberState = "member"
    ) -> KeysetPage[tuple[str, ProjectRole]]:
        """Return a page of the projects of a subject, its own too, or of those it is invited to, by name, with roles.

        Raises InvalidRequestError for an invalid cursor.
        """
        table = ROWS[state]
        shared = select(table.owner.label("name"), table.role.label("role")).where(
            table.subject == subject, table.role.in_(ROLES)
        )
        own = select(literal(subject), literal("owner"))
        project = (union_all(shared, own) if state == "member" else shared).subquery()
        query = select(project.c.name, project.c.role).order_by(project.c.name).limit(limit + 1)
        if after is not None:
            query = query.where(project.c.name > keyset.read_name(after))
        rows = self.tx.session.execute(query).all()
        return keyset.page(
            rows, limit, lambda row: (row.name, PROJECT_ROLE.validate_python(row.role)), lambda row: row.name
        )

    def permissions(self) -> Mapping[tuple[str, str], frozenset[KeyScope]]:
        """Return the scopes that all members may have, by owner and subject."""
        rows = self.tx.session.execute(select(MemberRow.owner, MemberRow.subject, MemberRow.role))
        return {(owner, subject): permitted_scopes(role) for owner, subject, role in rows}

    def _role(self, table: Rows, owner: str, subject: str) -> str | None:
        return self.tx.session.scalar(select(table.role).where(*_is(table, owner, subject)))

    def _count(self, table: Rows, owner: str) -> int:
        return self.tx.session.scalar(select(func.count()).select_from(table).where(table.owner == owner)) or 0

    def _put(self, table: Rows, owner: str, subject: str, role: str) -> None:
        first = insertion(self.tx.session, table).values(
            owner=owner, subject=subject, role=role, created_at=self.tx.clock()
        )
        # A concurrent request may have inserted it since.
        self.tx.session.execute(first.on_conflict_do_update(index_elements=["owner", "subject"], set_={"role": role}))


def member_path(subject: str) -> str:
    """Return the path of a member in its project."""
    return f"/v1/members/{quote(subject, safe='')}"


def project_path(name: str) -> str:
    """Return the path of a project for those who are invited to it."""
    return f"/v1/projects/{quote(name, safe='')}"


def no_such_project(name: str) -> NotFoundError:
    """Return the error for a project that is unknown, or to which the owner is not invited."""
    return NotFoundError(f"There is no membership of a project {name!r}, and no invitation.")


def _is(table: Rows, owner: str, subject: str) -> tuple[ColumnElement[bool], ...]:
    return table.owner == owner, table.subject == subject


def _columns(table: Rows) -> Select[str, str, datetime]:
    return select(table.subject, table.role, table.created_at)


def _member(state: MemberState, subject: str, role: str, created_at: datetime) -> Member:
    return Member(subject, ROLE.validate_python(role), created_at, state)


def _no_such_member(subject: str) -> NotFoundError:
    return NotFoundError(f"There is no member {subject!r}.")
