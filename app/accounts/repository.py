"""The repository of API keys."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, func, or_, select, union, update

from app.accounts.records import MAX_KEYS
from app.accounts.tables import SCOPES, ApiKeyRow, scopes_of
from app.database import keyset
from app.database.base import Columns, changed
from app.database.engine import lock_for_writing
from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import Transaction
from app.errors import ConflictError
from app.identity import Principal
from relevance_bayes.records.audit import AuditAction, AuditDetail
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.keys import ApiKey

KEY = Columns(ApiKey)


@dataclass(frozen=True)
class ApiKeyRepository:
    """API keys of all owners, by the digests of their secrets."""

    tx: Transaction

    def add(self, owner: str, key: ApiKey, digest: bytes) -> None:
        """Insert a key; raises ConflictError where its owner has MAX_KEYS valid ones, or another key is the same."""
        lock_for_writing(self.tx.session.connection())
        mine = select(func.count()).select_from(ApiKeyRow).where(ApiKeyRow.owner == owner, *valid_keys(self.tx.clock()))
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
        mine = ApiKeyRow.owner == owner, ApiKeyRow.made_by == maker, *valid_keys(self.tx.clock())
        query = select(ApiKeyRow).where(*mine).order_by(ApiKeyRow.id).execution_options(populate_existing=True)
        return tuple(map(_key, self.tx.session.scalars(query)))

    def has_any(self) -> bool:
        """Return whether there is a key of any owner, valid or not."""
        return self.tx.session.scalar(select(ApiKeyRow.id).limit(1)) is not None

    def principals(self) -> Mapping[bytes, Principal]:
        """Return the principals of all valid keys by digest."""
        now = self.tx.clock()
        found = self._read(now, *valid_keys(now))
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


def valid_keys(at: datetime) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions of keys that are valid at a time."""
    is_current = or_(ApiKeyRow.expires_at.is_(None), ApiKeyRow.expires_at > at)
    return ApiKeyRow.revoked_at.is_(None), is_current


def _key(row: ApiKeyRow) -> ApiKey:
    return KEY.read(row, id=str(row.id), scopes=SCOPES.read(row.scopes))
