"""The repository of sessions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, delete, or_, select

from app.accounts.documents import SCOPES, scopes_of
from app.accounts.records import MAX_SESSIONS, permitted_scopes
from app.accounts.repository import valid_keys
from app.accounts.tables import ApiKeyRow, MemberRow, SessionRow
from app.database.changes import changed
from app.database.engine import lock_for_writing
from app.database.transaction import Transaction
from app.identity import Principal
from relevance_bayes.types.keys import KEY_SCOPES

AT_ONCE = 500
"""The maximum number of rows of one deletion."""


@dataclass(frozen=True)
class SessionRepository:
    """Sessions of all owners, by the digests of their secrets."""

    tx: Transaction

    def add(self, digest: bytes, principal: Principal, expires_at: datetime) -> None:
        """Insert a session of a principal, in the project that it acts in; of the same key only the newest
        MAX_SESSIONS are kept."""
        lock_for_writing(self.tx.session.connection())
        own = principal.credential
        mine = SessionRow.owner == own.owner, SessionRow.key_id == own.key_id
        older = select(SessionRow.digest).where(*mine).order_by(SessionRow.created_at.desc()).offset(MAX_SESSIONS - 1)
        changed(self.tx.session, delete(SessionRow).where(SessionRow.digest.in_(older)))
        self.tx.session.add(
            SessionRow(
                digest=digest,
                owner=own.owner,
                scopes=SCOPES.write(tuple(scope for scope in KEY_SCOPES if scope in own.scopes)),
                key_id=own.key_id,
                created_at=self.tx.clock(),
                expires_at=expires_at,
                project=None if principal.own is None else principal.owner,
            )
        )
        self.tx.session.flush()

    def remove(self, digest: bytes) -> None:
        """Delete a session, if it is there."""
        changed(self.tx.session, delete(SessionRow).where(SessionRow.digest == digest))

    def principals(self) -> Mapping[bytes, Principal]:
        """Return the principals of all valid sessions by digest; a session ends with its key, and with the membership
        in its project."""
        session, key, member, now = SessionRow, ApiKeyRow, MemberRow, self.tx.clock()
        columns = session.digest, session.owner, session.scopes, session.key_id, session.expires_at, key.expires_at
        has_valid_key = and_(key.id.is_not(None), *valid_keys(now))
        valid = (
            select(*columns, session.project, member.role)
            .outerjoin(key, key.id == session.key_id)
            .outerjoin(member, and_(member.owner == session.project, member.subject == session.owner))
            .where(session.expires_at > now, or_(session.key_id.is_(None), has_valid_key))
            .where(or_(session.project.is_(None), member.role.is_not(None)))
        )
        found = {}
        for digest, owner, scopes, key_id, expiry, expiry_of_key, project, role in self.tx.session.execute(valid):
            end = min(end for end in (expiry, expiry_of_key) if end is not None).timestamp()
            own = Principal(owner, scopes_of(scopes), end, key_id, is_session=True)
            if project is None:
                found[digest] = own
            else:
                found[digest] = own.acting_in(project, permitted_scopes(role))
        return found

    def remove_expired(self) -> bool:
        """Delete some expired sessions; return whether to call again, in a new transaction."""
        over = select(SessionRow.digest).where(SessionRow.expires_at <= self.tx.clock()).limit(AT_ONCE)
        found = self.tx.session.scalars(over).all()  # read before the deletion, which alone takes SQLite's write lock
        if not found:
            return False
        changed(self.tx.session, delete(SessionRow).where(SessionRow.digest.in_(found)))
        return len(found) == AT_ONCE
