"""Authentication of requests by API keys and sessions, from a copy of all valid ones in memory."""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from uuid import UUID

from anyio import move_on_after, sleep, to_thread

from app.accounts.records import digest
from app.accounts.repository import ApiKeyRepository
from app.accounts.session_repository import SessionRepository
from app.database.transaction import OpenTransaction
from app.errors import UnavailableError
from app.http.authentication import secret_of
from app.identity import LOCAL, Principal

REFRESH_SECONDS = 1.0
"""The age of the copy above which a request waits for a new one; what is revoked is refused within this time."""

MAX_WAIT_SECONDS = 0.5
"""The maximum time that a request waits for a new copy where there is an old one."""

MAX_COMMIT_SECONDS = 60.0
"""The maximum time from the change of a session to its commit: changes before the last read are read for so long."""

FULL_READ_SECONDS = 300.0
"""The time after which all sessions are read again, rather than those that changed."""

MIN_REFRESH_SECONDS = 0.1
"""The minimum time between two copies, however many requests send unknown keys."""


@dataclass(frozen=True)
class _Keys:
    """All valid keys and sessions by digest, as read at a time, and keys seen in requests by their headers.

    A session is valid while its key is. All sessions were read at `fully_read_at`, their changes thereafter.
    """

    read_at: float
    is_required: bool
    by_digest: Mapping[bytes, Principal]
    sessions: Mapping[bytes, Principal]
    fully_read_at: float
    by_header: dict[bytes, Principal] = field(default_factory=dict)

    @cached_property
    def by_id(self) -> Mapping[UUID | None, Principal]:
        """Return the principals of keys by their ids."""
        return {principal.key_id: principal for principal in self.by_digest.values()}

    def of_session(self, secret: bytes) -> Principal | None:
        """Return the principal of a session, which expires with its key at the latest; None where it is not valid."""
        found = self.sessions.get(digest(secret))
        if found is None or found.key_id is None:
            return found
        key = self.by_id.get(found.key_id)
        if key is None:
            return None
        ends = [end for end in (found.expires_at, key.expires_at) if end is not None]
        return replace(found, expires_at=min(ends))

    def principal(self, authorizations: Collection[bytes], session: bytes | None) -> Principal | None:
        """Return the principal of exactly one `Authorization` header, or, without any, of a session; None where key or
        session is not valid."""
        if not self.is_required:
            return LOCAL
        if len(authorizations) == 1:
            (header,) = authorizations
            found = self.by_header.get(header)
            if found is None:
                secret = secret_of(authorizations)
                found = None if secret is None else self.by_digest.get(digest(secret))
                if found is None:
                    return None
                self.by_header[header] = found
        else:
            found = None if authorizations or session is None else self.of_session(session)
            if found is None:
                return None
        if found.expires_at is not None and found.expires_at <= time.time():
            return None
        return found


class KeyAuthenticator:
    """Authenticates requests by the API keys and sessions in the database; safe to use from many threads.

    A service `needs_keys` from the beginning, or else as soon as its database has a key. While the database is
    unavailable, what was valid goes on being valid for `stale_seconds`; a service without keys stays open.
    """

    def __init__(
        self,
        transaction: OpenTransaction,
        *,
        needs_keys: bool = False,
        stale_seconds: float = 300.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transaction = transaction
        self.needs_keys = needs_keys
        self._stale_seconds = stale_seconds
        self._now = now
        self._lock = Lock()
        self._attempted_at = now()
        self._keys: _Keys | None = None

    def known(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal | None:
        """Return the principal by the copy in memory; None where it has no such key or session, or is too old."""
        keys = self._attempted_within(REFRESH_SECONDS)
        return None if keys is None else keys.principal(authorizations, session)

    async def authenticate(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal | None:
        """Return the principal by what the database has now, None where key or session is not valid.

        A slow database is waited for MAX_WAIT_SECONDS, as long as there is a copy. Raises UnavailableError where there
        is none, or it is too old.
        """
        began = self._now()
        keys = await self._newest()
        if session is not None and keys.read_at < began and keys.principal(authorizations, session) is None:
            # A page uses its session at once, often before the next copy may be read.
            await sleep(MIN_REFRESH_SECONDS)
            keys = await self._newest()
        return keys.principal(authorizations, session)

    async def _newest(self) -> _Keys:
        """Return a copy that is new, or was when another might have been read; raises UnavailableError."""
        keys = self._keys
        if keys is None:
            keys = await to_thread.run_sync(self._refreshed)
        elif self._attempted_within(MIN_REFRESH_SECONDS) is None:
            with move_on_after(MAX_WAIT_SECONDS) as wait:
                keys = await to_thread.run_sync(self._refreshed, abandon_on_cancel=True)
            if wait.cancelled_caught:
                self._attempted_at = self._now()
        if keys.is_required and self._now() - keys.read_at > self._stale_seconds:
            raise UnavailableError("The API keys can't be read: the database does not respond.")
        return keys

    def _refreshed(self) -> _Keys:
        """Return a new copy; the one before where the database is unavailable, or another thread reads for long."""
        before = self._keys
        if not self._lock.acquire(timeout=-1 if before is None else MAX_WAIT_SECONDS):
            assert before is not None
            return before
        try:
            if (fresh := self._attempted_within(MIN_REFRESH_SECONDS)) is not None:
                return fresh  # another thread has read it while this one waited
            keys, now = self._keys, self._now()
            try:
                keys = self._keys = self._read(now)
            except UnavailableError:
                if keys is None:
                    raise
            self._attempted_at = now
            return keys
        finally:
            self._lock.release()

    def _attempted_within(self, seconds: float) -> _Keys | None:
        """Return the copy where the last attempt to read another one is that recent."""
        return self._keys if self._now() - self._attempted_at <= seconds else None

    def _read(self, now: float) -> _Keys:
        with self._transaction() as tx:
            keys = ApiKeyRepository(tx)
            principals = keys.principals()
            is_required = self.needs_keys or bool(principals) or keys.has_any()
            if not is_required:
                return _Keys(now, False, principals, {}, now)
            before, sessions = self._keys, SessionRepository(tx)
            if before is None or not before.is_required or now - before.fully_read_at > FULL_READ_SECONDS:
                return _Keys(now, True, principals, sessions.principals(), now)
            changes = sessions.changes(within=now - before.read_at + MAX_COMMIT_SECONDS)
            return _Keys(now, True, principals, _changed(before.sessions, changes), before.fully_read_at)


def _changed(
    sessions: Mapping[bytes, Principal], changes: Mapping[bytes, Principal | None]
) -> Mapping[bytes, Principal]:
    """Return sessions with changes, most of which were made before."""
    if all(sessions.get(secret) == change for secret, change in changes.items()):
        return sessions
    changed = {**sessions, **changes}
    return {secret: principal for secret, principal in changed.items() if principal is not None}
