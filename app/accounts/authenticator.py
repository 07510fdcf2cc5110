"""Authentication of requests by API keys and sessions, and the projects in which they may act, from a copy of all
valid ones in memory."""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from uuid import UUID

from anyio import move_on_after, sleep, to_thread

from app.accounts.records import digest
from app.accounts.repository import ApiKeyRepository, MemberRepository, SessionRepository
from app.database.transaction import OpenTransaction
from app.errors import UnavailableError
from app.http.authentication import project_of, secret_of
from app.identity import LOCAL, Principal
from relevance_bayes.records.accounts import KeyScope

REFRESH_SECONDS = 1.0
"""The age of the copy above which a request waits for a new one; what is revoked is refused within this time."""

MAX_WAIT_SECONDS = 0.5
"""The maximum time that a request waits for a new copy where there is an old one."""

MAX_COMMIT_SECONDS = 60.0
"""The maximum time from the change of a session to its commit: changes before the last read are read for so long."""

MAX_CLOCK_SECONDS = 3_600.0
"""The maximum difference between the clocks of two hosts, by which the times of API keys are read."""

FULL_READ_SECONDS = 300.0
"""The time after which all keys and sessions are read again, rather than those that changed."""

MIN_REFRESH_SECONDS = 0.1
"""The minimum time between two copies, however many requests send unknown keys."""

MAX_ACTING = 10_000
"""The maximum number of principals in projects that a copy keeps."""


@dataclass(frozen=True)
class _Keys:
    """All valid keys and sessions by digest, and the scopes of members by project and subject, as read at a time.

    A session is valid while its key and its membership are. All were read at `fully_read_at`, changes thereafter. With
    them are the keys that requests sent, by their headers, and the principals that acted in projects, by the identity
    of their credentials and the header: they refer to these, so that no other object has the identity.
    """

    read_at: float
    is_required: bool
    by_digest: Mapping[bytes, Principal]
    sessions: Mapping[bytes, Principal]
    members: Mapping[tuple[str, str], frozenset[KeyScope]]
    fully_read_at: float
    by_header: dict[bytes, Principal] = field(default_factory=dict)
    by_project: dict[tuple[int, bytes], Principal] = field(default_factory=dict)

    @cached_property
    def by_id(self) -> Mapping[UUID | None, Principal]:
        """Return the principals of keys by their ids."""
        return {principal.key_id: principal for principal in self.by_digest.values()}

    def of_session(self, secret: bytes) -> Principal | None:
        """Return the principal of a session, which expires with its key at the latest; None where it is not valid."""
        found = self.sessions.get(digest(secret))
        own = None if found is None else self.own_of(found)
        if found is None or own is None or found.own is None:
            return own
        permitted = self.members.get((found.owner, own.owner))
        return None if permitted is None else own.acting_in(found.owner, permitted)

    def own_of(self, session: Principal) -> Principal | None:
        """Return the own principal of a session; None where its key is not valid."""
        own = session.credential
        if own.key_id is None:
            return own
        key = self.by_id.get(own.key_id)
        if key is None:
            return None
        return replace(own, expires_at=min(end for end in (own.expires_at, key.expires_at) if end is not None))

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

    def acting(self, principal: Principal, header: bytes) -> Principal | None:
        """Return a principal in the project that a header names; None where it is no member of it."""
        own = principal.credential
        found = self.by_project.get((id(own), header))
        if found is None:
            project = project_of(header)
            permitted = self.members.get((project, own.owner))
            if project != own.owner and permitted is None:
                return None
            found = own if permitted is None else own.acting_in(project, permitted)
            if len(self.by_project) >= MAX_ACTING:
                self.by_project.clear()
            self.by_project[id(own), header] = found
        return found


class KeyAuthenticator:
    """Authenticates requests by the API keys, sessions and members in the database; safe to use from many threads.

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
        if keys is None:
            return None
        found = keys.principal(authorizations, session)
        # Where the last attempt failed, the copy is too old already, or may be used until the next attempt.
        return found if found is LOCAL or self._attempted_at - keys.read_at <= self._stale_seconds else None

    async def authenticate(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal | None:
        """Return the principal by what the database has now, None where key or session is not valid.

        A slow database is waited for MAX_WAIT_SECONDS, as long as there is a copy. Raises UnavailableError where there
        is none, or it is too old.
        """
        return await self._found(lambda keys: keys.principal(authorizations, session))

    async def is_open(self) -> bool:
        """Return whether the database has no key, and none is needed; raises UnavailableError before the first copy."""
        if self.needs_keys:
            return False
        keys = self._attempted_within(REFRESH_SECONDS) or await self._newest()
        return not keys.is_required

    def known_session(self, session: bytes) -> Principal | None:
        """Return the own principal of a session in the copy in memory, though its membership may have ended."""
        keys = self._keys
        found = None if keys is None else keys.sessions.get(digest(session))
        own = None if keys is None or found is None else keys.own_of(found)
        return None if own is None or (own.expires_at is not None and own.expires_at <= time.time()) else own

    def known_acting(self, principal: Principal, project: bytes) -> Principal | None:
        """Return the principal in a project by the copy in memory; None where it has no such member, or is too old."""
        keys = self._attempted_within(REFRESH_SECONDS)
        if keys is None or self._attempted_at - keys.read_at > self._stale_seconds:
            return None
        return keys.acting(principal, project)

    async def acting(self, principal: Principal, project: bytes) -> Principal | None:
        """Return the principal in a project by what the database has now, None where it is no member.

        Waits, and raises, as `authenticate` does.
        """
        return await self._found(lambda keys: keys.acting(principal, project))

    async def _found(self, find: Callable[[_Keys], Principal | None]) -> Principal | None:
        """Return what the newest copy has; what is not there is looked for in one that is read after this request.

        A key or a session is often used at once when it was created, before the next copy may be read.
        """
        began = self._now()
        keys = await self._newest()
        found = self._if_recent(find(keys), keys)
        if found is None and keys.read_at < began:
            await sleep(MIN_REFRESH_SECONDS)
            keys = await self._newest()
            found = self._if_recent(find(keys), keys)
        return found

    async def _newest(self) -> _Keys:
        """Return a copy that is new, or was when another might have been read; raises UnavailableError without any."""
        keys = self._keys
        if keys is None:
            keys = await to_thread.run_sync(self._refreshed)
        elif self._attempted_within(MIN_REFRESH_SECONDS) is None:
            with move_on_after(MAX_WAIT_SECONDS) as wait:
                keys = await to_thread.run_sync(self._refreshed, abandon_on_cancel=True)
            if wait.cancelled_caught:
                self._attempted_at = self._now()
        return keys

    def _if_recent(self, found: Principal | None, keys: _Keys) -> Principal | None:
        """Return what was found in a copy; raises UnavailableError where that is too old, except for LOCAL."""
        if found is not LOCAL and self._now() - keys.read_at > self._stale_seconds:
            raise UnavailableError("The API keys can't be read: the database does not respond.")
        return found

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
        before = self._keys
        with self._transaction() as tx:
            keys, members = ApiKeyRepository(tx), MemberRepository(tx).permissions()
            is_full = before is None or now - before.fully_read_at > FULL_READ_SECONDS
            if before is None or is_full:
                principals = keys.principals()
            else:
                changes = keys.changes(within=MAX_CLOCK_SECONDS, ahead=FULL_READ_SECONDS + MAX_COMMIT_SECONDS)
                principals = _changed(before.by_digest, changes)
            is_required = self.needs_keys or bool(principals) or keys.has_any()
            fully_read_at = now if before is None or is_full else before.fully_read_at
            if not is_required:
                return _Keys(now, False, principals, {}, members, fully_read_at)
            sessions = SessionRepository(tx)
            if before is None or is_full or not before.is_required:
                return _Keys(now, True, principals, sessions.principals(), members, fully_read_at)
            recent = sessions.changes(within=now - before.read_at + MAX_COMMIT_SECONDS)
            return _Keys(now, True, principals, _changed(before.sessions, recent), members, fully_read_at)


def _changed(known: Mapping[bytes, Principal], changes: Mapping[bytes, Principal | None]) -> Mapping[bytes, Principal]:
    """Return keys or sessions with changes, most of which were made before."""
    if all(_is_same(known.get(secret), change) for secret, change in changes.items()):
        return known
    changed = {**known, **changes}
    return {secret: principal for secret, principal in changed.items() if principal is not None}


def _is_same(known: Principal | None, change: Principal | None) -> bool:
    return known == change and (known is None or change is None or known.expires_at == change.expires_at)
