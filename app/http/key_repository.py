"""Idempotency keys and the responses stored with them."""

import json
import zlib
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import ColumnElement, and_, delete, or_, select, tuple_, update

from app.database.base import Columns, DatabaseNow, SecondsSince, changed, insertion
from app.database.engine import lock_for_writing
from app.database.transaction import Transaction
from app.errors import KeyInUseError, KeyReusedError
from app.http.idempotency_records import RequestKey, StoredResponse
from app.http.tables import RequestKeyRow

KEY = Columns(RequestKey)

LEASE_SECONDS = 30.0
"""The seconds without a renewal after which a holder counts as dead, and its key is free again."""

AT_ONCE = 500
"""The rows read by one deletion; on SQLite about 5 ms."""


@dataclass(frozen=True)
class IdempotencyKeyRepository:
    """Creating requests by their idempotency keys, kept for a time; all times are those of the database's clock."""

    tx: Transaction

    def find(self, key: RequestKey) -> StoredResponse | None:
        """Return the response to the first request with this key, None when there was none or its time is over.

        Raises KeyReusedError when that was another request, KeyInUseError while it is still being processed.
        """
        row = self.tx.session.scalars(
            select(RequestKeyRow).where(_is(key), ~self._over()).execution_options(populate_existing=True)
        ).one_or_none()
        if row is None:
            return None
        if row.fingerprint != key.fingerprint:
            raise KeyReusedError(
                "This Idempotency-Key came before with another request: send each request with a key of its own."
            )
        if row.status is None or row.headers is None or row.content is None:
            raise _in_use()
        headers = tuple((str(name), str(value)) for name, value in json.loads(row.headers))
        return StoredResponse(row.status, headers, zlib.decompress(row.content))

    def keep(self, key: RequestKey, response: StoredResponse) -> None:
        """Store a response in the transaction that creates its resource; raises KeyInUseError if the key is taken."""
        self._take(key, _columns(response))

    def begin(self, key: RequestKey, holder: UUID) -> None:
        """Take a key for a request of several transactions; raises KeyInUseError if the key is taken."""
        self._take(key, {"holder": holder})

    def renew(self, key: RequestKey, holder: UUID) -> None:
        """Extend the holder's time; raises KeyInUseError if it had expired and the key was taken over."""
        self._change(key, holder, {})

    def complete(self, key: RequestKey, holder: UUID, response: StoredResponse) -> None:
        """Store the holder's response; raises KeyInUseError if the key was taken over."""
        self._change(key, holder, _columns(response))

    def release(self, key: RequestKey, holder: UUID) -> None:
        """Release a key whose holder created nothing."""
        mine = (_is(key), RequestKeyRow.holder == holder, RequestKeyRow.status.is_(None))
        changed(self.tx.session, delete(RequestKeyRow).where(*mine))

    def remove_expired(self) -> bool:
        """Delete some expired keys; return whether to call again, in a new transaction."""
        # Read before the deletion, which alone takes SQLite's write lock.
        oldest = select(RequestKeyRow).order_by(RequestKeyRow.updated_at).limit(AT_ONCE).subquery()
        over = select(oldest.c.owner, oldest.c.scope, oldest.c.key).where(
            SecondsSince(oldest.c.updated_at) > self.tx.response_retention
        )
        found = [tuple(row) for row in self.tx.session.execute(over)]
        if not found:
            return False
        names = tuple_(RequestKeyRow.owner, RequestKeyRow.scope, RequestKeyRow.key)
        changed(self.tx.session, delete(RequestKeyRow).where(names.in_(found), self._over()))
        return len(found) == AT_ONCE

    def _take(self, key: RequestKey, values: dict[str, object]) -> None:
        lock_for_writing(self.tx.session.connection())
        changed(self.tx.session, delete(RequestKeyRow).where(_is(key), self._over()))
        row = KEY.values(RequestKeyRow, key, updated_at=DatabaseNow(), **values)
        # On PostgreSQL this waits for a transaction that stores the same key, and then finds it stored or free.
        taken = self.tx.session.execute(
            insertion(self.tx.session, RequestKeyRow)
            .values(**row)
            .on_conflict_do_nothing(index_elements=["owner", "scope", "key"])
            .returning(RequestKeyRow.key)
        )
        if taken.one_or_none() is None:
            raise _in_use()

    def _change(self, key: RequestKey, holder: UUID, values: dict[str, object]) -> None:
        mine = update(RequestKeyRow).where(_is(key), RequestKeyRow.holder == holder, RequestKeyRow.status.is_(None))
        if not changed(self.tx.session, mine.values(updated_at=DatabaseNow(), **values)):
            raise _in_use()

    def _over(self) -> ColumnElement[bool]:
        silent = SecondsSince(RequestKeyRow.updated_at)
        return or_(silent > self.tx.response_retention, and_(RequestKeyRow.status.is_(None), silent > LEASE_SECONDS))


def _is(key: RequestKey) -> ColumnElement[bool]:
    return and_(RequestKeyRow.owner == key.owner, RequestKeyRow.scope == key.scope, RequestKeyRow.key == key.key)


def _columns(response: StoredResponse) -> dict[str, object]:
    # A response with thousands of columns is repetitive: compressed, it has a tenth of the size.
    content = zlib.compress(response.content, 1)
    return {"status": response.status, "headers": json.dumps(response.headers), "content": content}


def _in_use() -> KeyInUseError:
    return KeyInUseError("The first request with this Idempotency-Key is still being processed; retry in a moment.")
