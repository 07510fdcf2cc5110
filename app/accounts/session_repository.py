"""The repository of sessions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, insert, or_, select, update

from app.accounts.records import MAX_SESSIONS
from app.accounts.tables import SCOPES, SessionRow, scopes_of
from app.database.base import DatabaseAgo, DatabaseNow, changed
from app.database.engine import lock_for_writing
from app.database.transaction import Transaction
from app.identity import Principal
from relevance_bayes.records.keys import KEY_SCOPES

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
