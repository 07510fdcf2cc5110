"""The repository of the members of projects."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from sqlalchemy import delete, func, literal, select, union_all

from app.accounts.documents import PROJECT_ROLE, ROLE
from app.accounts.records import MAX_MEMBERS, Member, ProjectRole, permitted_scopes
from app.accounts.tables import MemberRow
from app.database import keyset
from app.database.changes import changed, insertion
from app.database.engine import lock_for_writing
from app.database.pages import Page
from app.database.transaction import Transaction
from app.errors import ConflictError
from relevance_bayes.types.audit import AuditAction
from relevance_bayes.types.errors import NotFoundError
from relevance_bayes.types.keys import KeyScope
from relevance_bayes.types.members import ROLES, Role

KNOWN = MemberRow.role.in_(ROLES)
"""The condition of members whose role this release knows."""


@dataclass(frozen=True)
class MemberRepository:
    """The members of all owners' projects.

    A role that only a later release knows permits nothing in this one: who has it is not shown as a member, and may be
    given another role, or removed.
    """

    tx: Transaction

    def get(self, owner: str, subject: str) -> Member:
        """Return a member; raises NotFoundError."""
        mine = select(MemberRow).where(MemberRow.owner == owner, MemberRow.subject == subject, KNOWN)
        row = self.tx.session.scalar(mine.execution_options(populate_existing=True))
        if row is None:
            raise _no_such_member(subject)
        return _member(row)

    def page(self, owner: str, *, limit: int, after: str | None) -> Page[Member]:
        """Return a page of members by subject; raises InvalidRequestError for an invalid cursor."""
        query = select(MemberRow).where(MemberRow.owner == owner, KNOWN).order_by(MemberRow.subject).limit(limit + 1)
        if after is not None:
            query = query.where(MemberRow.subject > keyset.read_name(after))
        return keyset.page(self.tx.session.scalars(query).all(), limit, _member, lambda row: row.subject)

    def put(self, owner: str, subject: str, role: Role) -> bool:
        """Insert a member, or change its role; return whether it is new. Raises ConflictError above MAX_MEMBERS."""
        lock_for_writing(self.tx.session.connection())
        of_owner = select(MemberRow.role).where(MemberRow.owner == owner)
        present = self.tx.session.scalar(of_owner.where(MemberRow.subject == subject))
        if present == role:
            return False
        members = select(func.count()).select_from(MemberRow).where(MemberRow.owner == owner)
        if present is None and (self.tx.session.scalar(members) or 0) >= MAX_MEMBERS:
            raise ConflictError(f"The project has {MAX_MEMBERS:,} members, the maximum: remove one first.")
        first = insertion(self.tx.session, MemberRow).values(
            owner=owner, subject=subject, role=role, created_at=self.tx.clock()
        )
        # A concurrent request may have inserted it since.
        self.tx.session.execute(first.on_conflict_do_update(index_elements=["owner", "subject"], set_={"role": role}))
        action: AuditAction = "member.created" if present is None else "member.updated"
        self.tx.record(action, owner, member_path(subject), role=role)
        return present is None

    def remove(self, owner: str, subject: str) -> None:
        """Delete a member; raises NotFoundError."""
        mine = delete(MemberRow).where(MemberRow.owner == owner, MemberRow.subject == subject)
        if not changed(self.tx.session, mine):
            raise _no_such_member(subject)
        self.tx.record("member.deleted", owner, member_path(subject))

    def projects(self, subject: str, *, limit: int, after: str | None) -> Page[tuple[str, ProjectRole]]:
        """Return a page of the projects of a subject, its own too, by name, with its roles.

        Raises InvalidRequestError for an invalid cursor.
        """
        own = select(literal(subject).label("name"), literal("owner").label("role"))
        shared = select(MemberRow.owner, MemberRow.role).where(MemberRow.subject == subject, KNOWN)
        project = union_all(own, shared).subquery()
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


def member_path(subject: str) -> str:
    """Return the path of a member in its project."""
    return f"/v1/members/{quote(subject, safe='')}"


def _member(row: MemberRow) -> Member:
    return Member(row.owner, row.subject, ROLE.validate_python(row.role), row.created_at)


def _no_such_member(subject: str) -> NotFoundError:
    return NotFoundError(f"There is no member {subject!r}.")
