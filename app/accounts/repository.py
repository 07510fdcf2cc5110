"""The repositories of API keys, sessions and members of projects."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias
from urllib.parse import quote
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, delete, func, insert, literal, or_, select, union, union_all, update

from app.accounts.records import MAX_KEYS, MAX_MEMBERS, MAX_SESSIONS, permitted_scopes
from app.accounts.tables import PROJECT_ROLE, ROLE, SCOPES, ApiKeyRow, InvitationRow, MemberRow, SessionRow, scopes_of
from app.database import keyset
from app.database.base import Columns, DatabaseAgo, DatabaseNow, changed, insertion
from app.database.engine import lock_for_writing
from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import Transaction
from app.errors import ConflictError
from app.identity import Principal
from relevance_bayes.records.accounts import KEY_SCOPES, ApiKey, KeyScope
from relevance_bayes.records.audit import AuditAction, AuditDetail
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.members import ROLES, Member, MemberState, ProjectRole, Role

KEY = Columns(ApiKey)


@dataclass(frozen=True)
class ApiKeyRepository:
    """API keys of all owners, by the digests of their secrets."""

    tx: Transaction

    def add(self, owner: str, key: ApiKey, digest: bytes) -> None:
        """Insert a key; raises ConflictError where its owner has MAX_KEYS valid ones, or another key is the same."""
        lock_for_writing(self.tx.session.connection())
        mine = (
            select(func.count()).select_from(ApiKeyRow).where(ApiKeyRow.owner == owner, *_valid_keys(self.tx.clock()))
        )
        if (self.tx.session.scalar(mine) or 0) >= MAX_KEYS:
            raise ConflictError(f"There are {MAX_KEYS:,} valid API keys, the maximum: revoke one first.")
        if self.tx.session.scalar(select(ApiKeyRow.id).where(ApiKeyRow.digest == digest)) is not None:
            raise ConflictError("There is such an API key already.")
        others = {"id": UUID(key.id), "owner": owner, "digest": digest, "scopes": SCOPES.write(key.scopes)}
        self.tx.session.add(KEY.write(ApiKeyRow, key, **others))
        self.tx.session.flush()

    def get(self, owner: str, key_id: UUID) -> ApiKey:
        """Return a key; raises NotFoundError."""
        mine = select(ApiKeyRow).where(ApiKeyRow.owner == owner, ApiKeyRow.id == key_id)
        row = self.tx.session.scalar(mine.execution_options(populate_existing=True))
        if row is None:
            raise NotFoundError(f"There is no API key {key_id}.")
        return _key(row)

    def page(self, owner: str, part: PageRequest) -> KeysetPage[ApiKey]:
        """Return a page of an owner's keys, revoked and expired ones too."""
        query = keyset.by_age(select(ApiKeyRow).where(ApiKeyRow.owner == owner), ApiKeyRow.id, part, keyset.read_id)
        return keyset.page(self.tx.session.scalars(query).all(), part.limit, _key, lambda row: row.id)

    def expire(self, owner: str, key_id: UUID, at: datetime) -> None:
        """Let a key expire at a time, unless it expires earlier."""
        mine = update(ApiKeyRow).where(ApiKeyRow.owner == owner, ApiKeyRow.id == key_id)
        later = or_(ApiKeyRow.expires_at.is_(None), ApiKeyRow.expires_at > at)
        changed(self.tx.session, mine.where(later).values(expires_at=at))

    def revoke(self, owner: str, key_id: UUID) -> ApiKey:
        """Revoke a key, and return it; one that is revoked stays as it is. Raises NotFoundError."""
        mine = update(ApiKeyRow).where(ApiKeyRow.owner == owner, ApiKeyRow.id == key_id)
        valid = mine.where(ApiKeyRow.revoked_at.is_(None))
        is_new = bool(changed(self.tx.session, valid.values(revoked_at=self.tx.clock())))
        key = self.get(owner, key_id)
        if is_new:
            record_change(self.tx, "key.revoked", owner, key)
        return key

    def maker(self, credential: Principal) -> str:
        """Return the owner to whom a key that a credential makes is attributed: that of the key which made its key."""
        made_by = select(ApiKeyRow.made_by).where(ApiKeyRow.id == credential.key_id)
        return (None if credential.key_id is None else self.tx.session.scalar(made_by)) or credential.owner

    def made_by(self, owner: str, maker: str) -> tuple[ApiKey, ...]:
        """Return the valid keys of an owner that another one has made, oldest first."""
        mine = ApiKeyRow.owner == owner, ApiKeyRow.made_by == maker, *_valid_keys(self.tx.clock())
        query = select(ApiKeyRow).where(*mine).order_by(ApiKeyRow.id).execution_options(populate_existing=True)
        return tuple(map(_key, self.tx.session.scalars(query)))

    def has_any(self) -> bool:
        """Return whether there is a key of any owner, valid or not."""
        return self.tx.session.scalar(select(ApiKeyRow.id).limit(1)) is not None

    def principals(self) -> Mapping[bytes, Principal]:
        """Return the principals of all valid keys by digest."""
        now = self.tx.clock()
        found = self._read(now, *_valid_keys(now))
        return {digest: principal for digest, principal in found if principal is not None}

    def changes(self, *, within: float, ahead: float) -> Mapping[bytes, Principal | None]:
        """Return the keys that were created or revoked within so many seconds, by digest, and None for invalid ones.

        With them are those that expire within, or in, `ahead` seconds: the expiry of a rotated key is brought forward.
        """
        now, row = self.tx.clock(), ApiKeyRow
        since, until = now - timedelta(seconds=within), now + timedelta(seconds=ahead)
        # A union, so that each part uses its index: for OR, SQLite would read the whole table.
        recent = union(
            select(row.id).where(row.created_at > since),
            select(row.id).where(row.revoked_at > since),
            select(row.id).where(row.expires_at.between(since, until)),
        )
        return dict(self._read(now, row.id.in_(recent)))

    def _read(self, at: datetime, *conditions: ColumnElement[bool]) -> Iterator[tuple[bytes, Principal | None]]:
        row = ApiKeyRow
        columns = row.digest, row.owner, row.scopes, row.expires_at, row.id, row.revoked_at
        found = self.tx.session.execute(select(*columns).where(*conditions))
        for digest, owner, scopes, expiry, key_id, revoked_at in found:
            is_valid = revoked_at is None and (expiry is None or expiry > at)
            expires_at = None if expiry is None else expiry.timestamp()
            yield digest, Principal(owner, scopes_of(scopes), expires_at, key_id) if is_valid else None


def record_change(tx: Transaction, action: AuditAction, owner: str, key: ApiKey, **details: AuditDetail) -> None:
    """Record a change of an owner's key for the audit."""
    scopes, expires_at = " ".join(key.scopes), None if key.expires_at is None else key.expires_at.isoformat()
    path = f"/v1/keys/{key.id}"
    tx.record(action, owner, path, name=key.name, scopes=scopes, expires_at=expires_at, **details)


def _valid_keys(at: datetime) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions of keys that are valid at a time."""
    is_current = or_(ApiKeyRow.expires_at.is_(None), ApiKeyRow.expires_at > at)
    return ApiKeyRow.revoked_at.is_(None), is_current


def _key(row: ApiKeyRow) -> ApiKey:
    return KEY.read(row, id=str(row.id), scopes=SCOPES.read(row.scopes))


AT_ONCE = 500
"""The maximum number of rows of one deletion."""

KEPT_SECONDS = 3_600.0
"""The seconds for which a session that has ended is kept, so that every process reads its end."""

ENDED = {"is_ended": True, "changed_at": DatabaseNow()}


@dataclass(frozen=True)
class SessionRepository:
    """Sessions of all owners, by the digests of their secrets."""

    tx: Transaction

    def add(self, digest: bytes, principal: Principal, expires_at: datetime) -> None:
        """Insert a session of a principal, in the project that it acts in; of the same key the oldest end, above
        MAX_SESSIONS."""
        row, own = SessionRow, principal.credential
        lock_for_writing(self.tx.session.connection())
        mine = row.owner == own.owner, row.key_id == own.key_id, row.is_ended.is_(False)
        older = select(row.digest).where(*mine).order_by(row.created_at.desc()).offset(MAX_SESSIONS - 1)
        changed(self.tx.session, update(row).where(row.digest.in_(older)).values(ENDED))
        values = {
            "digest": digest,
            "owner": own.owner,
            "scopes": SCOPES.write(tuple(scope for scope in KEY_SCOPES if scope in own.scopes)),
            "key_id": own.key_id,
            "created_at": self.tx.clock(),
            "expires_at": expires_at,
            "changed_at": DatabaseNow(),
            "is_ended": False,
            "project": None if principal.own is None else principal.owner,
        }
        self.tx.session.execute(insert(row).values(values))

    def end(self, digest: bytes) -> str | None:
        """End a session; return its owner, None where there is none or it has ended."""
        mine = update(SessionRow).where(SessionRow.digest == digest, SessionRow.is_ended.is_(False)).values(ENDED)
        owner = mine.returning(SessionRow.owner)
        return self.tx.session.scalar(owner, execution_options={"synchronize_session": False})

    def principals(self) -> Mapping[bytes, Principal]:
        """Return the principals of all sessions that have neither ended nor expired, by digest.

        A session's key may have been revoked, or expire earlier. One in a project has no scopes there before its
        membership is looked up.
        """
        found = self._read(SessionRow.expires_at > self.tx.clock(), SessionRow.is_ended.is_(False))
        return {digest: principal for digest, principal in found if principal is not None}

    def changes(self, *, within: float) -> Mapping[bytes, Principal | None]:
        """Return the sessions that were created within so many seconds, by digest, and None for those that ended."""
        # A subquery, which PostgreSQL evaluates once, so that the index is used.
        since = select(DatabaseAgo(within)).scalar_subquery()
        return dict(self._read(SessionRow.changed_at > since))

    def remove_expired(self) -> bool:
        """Delete some sessions that have expired, or ended long ago; return whether to call again, in a new
        transaction."""
        row = SessionRow
        ended = and_(row.is_ended.is_(True), row.changed_at < select(DatabaseAgo(KEPT_SECONDS)).scalar_subquery())
        over = select(row.digest).where(or_(row.expires_at <= self.tx.clock(), ended)).limit(AT_ONCE)
        found = self.tx.session.scalars(over).all()  # read before the deletion, which alone takes SQLite's write lock
        if not found:
            return False
        changed(self.tx.session, delete(row).where(row.digest.in_(found)))
        return len(found) == AT_ONCE

    def _read(self, *conditions: ColumnElement[bool]) -> Iterator[tuple[bytes, Principal | None]]:
        row = SessionRow
        columns = row.digest, row.owner, row.scopes, row.key_id, row.expires_at, row.is_ended, row.project
        for digest, owner, scopes, key_id, expiry, is_ended, project in self.tx.session.execute(
            select(*columns).where(*conditions)
        ):
            own = Principal(owner, scopes_of(scopes), expiry.timestamp(), key_id, is_session=True)
            valid = own if project is None else own.acting_in(project, frozenset())
            yield digest, None if is_ended else valid


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
        self.tx.record(action, owner, _member_path(subject), role=role)
        return is_new

    def accept(self, owner: str, subject: str) -> None:
        """Make an owner that is invited a member; one that is a member stays it. Raises NotFoundError."""
        lock_for_writing(self.tx.session.connection())
        invited = delete(InvitationRow).where(*_is(InvitationRow, owner, subject), InvitationRow.role.in_(ROLES))
        role = self.tx.session.scalar(invited.returning(InvitationRow.role))
        if role is not None:
            self._put(MemberRow, owner, subject, role)
            self.tx.record("member.created", owner, _member_path(subject), role=role)
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
        self.tx.record("member.deleted", owner, _member_path(subject))

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


def _member_path(subject: str) -> str:
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
