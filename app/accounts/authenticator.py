"""Authentication of requests by API keys, from a copy of all valid keys in memory."""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from threading import Lock

from anyio import to_thread

from app.accounts.records import Credential, digest
from app.accounts.repository import ApiKeyRepository
from app.database.transaction import OpenTransaction
from app.errors import UnavailableError
from app.http.authentication import secret_of
from app.identity import LOCAL, Principal

REFRESH_SECONDS = 1.0
"""The age of the copy above which a request waits for a new one; a revoked key is refused within this time."""

MIN_REFRESH_SECONDS = 0.1
"""The minimum time between two copies, however many requests send unknown keys."""


@dataclass(frozen=True)
class _Keys:
    """All valid keys by digest, as read at a time, and those seen in requests by their headers."""

    read_at: float
    is_required: bool
    by_digest: Mapping[bytes, Credential]
    by_header: dict[bytes, Credential] = field(default_factory=dict)

    def principal(self, authorizations: Collection[bytes]) -> Principal | None:
        """Return the principal of exactly one `Authorization` header; None where its key is not valid."""
        if not self.is_required:
            return LOCAL
        if len(authorizations) != 1:
            return None
        (header,) = authorizations
        found = self.by_header.get(header)
        if found is None:
            secret = secret_of(authorizations)
            found = None if secret is None else self.by_digest.get(digest(secret))
            if found is None:
                return None
            self.by_header[header] = found
        if found.expires_at is not None and found.expires_at <= time.time():
            return None
        return found.principal


class KeyAuthenticator:
    """Authenticates requests by the API keys in the database; safe to use from many threads.

    A service `needs_keys` from the beginning, or else as soon as its database has a key. While the database is
    unavailable, the keys that were valid go on being valid for `stale_seconds`.
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

    def known(self, authorizations: Collection[bytes]) -> Principal | None:
        """Return the principal by the copy in memory; None where it has no such key, or is too old."""
        keys = self._keys
        if keys is None or self._now() - self._attempted_at > REFRESH_SECONDS:
            return None
        return keys.principal(authorizations)

    async def authenticate(self, authorizations: Collection[bytes]) -> Principal | None:
        """Return the principal by what the database has now, None where the key is not valid.

        Raises UnavailableError where the database is unavailable and the copy is too old.
        """
        keys = await to_thread.run_sync(self._refreshed)
        return keys.principal(authorizations)

    def _refreshed(self) -> _Keys:
        with self._lock:
            keys, now = self._keys, self._now()
            if keys is not None and now - self._attempted_at <= MIN_REFRESH_SECONDS:
                return keys
            self._attempted_at = now
            try:
                with self._transaction() as tx:
                    repository = ApiKeyRepository(tx)
                    credentials = repository.credentials()
                    is_required = self.needs_keys or bool(credentials) or repository.has_any()
            except UnavailableError:
                if keys is None or now - keys.read_at > self._stale_seconds:
                    self._keys = None
                    raise
                return keys
            self._keys = _Keys(now, is_required, credentials)
            return self._keys
