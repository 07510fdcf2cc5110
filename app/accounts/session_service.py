"""Sessions of browsers: create, end."""

import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from app.accounts.records import digest
from app.accounts.session_repository import SessionRepository
from app.database.transaction import OpenTransaction, Transaction
from app.errors import ConflictError
from app.identity import Principal


@dataclass(frozen=True)
class Sessions:
    """Sessions, each for at most `seconds`; their secrets are not stored."""

    transaction: OpenTransaction
    seconds: float

    def create(self, principal: Principal, *, replaced: bytes | None = None) -> tuple[str, Principal]:
        """Create a session of a principal, and return its secret and its principal.

        It acts in the same project, and ends no later than the principal's key, token or session: a session can't
        extend itself, it can only be `replaced`, by one in another project. Raises ConflictError where there is no
        credential, or it has expired or ended, and for a session that is not replaced.
        """
        if principal.is_session and replaced is None:
            raise ConflictError("Expected an API key or token in `Authorization`, or a project; got a session alone.")
        if principal.key_id is None and principal.expires_at is None:
            raise ConflictError("The service needs no API key, and requests need no session.")
        secret = secrets.token_urlsafe(32)
        with self.transaction() as tx:
            now = tx.clock()
            expires_at = now + timedelta(seconds=self.seconds)
            if principal.expires_at is not None:
                expires_at = min(expires_at, datetime.fromtimestamp(principal.expires_at, UTC))
            if expires_at <= now:
                raise ConflictError("The API key or token has expired.")
            if replaced is not None:
                self._replace(tx, replaced)
            SessionRepository(tx).add(digest(secret.encode()), principal, expires_at)
            tx.record("session.created", principal.credential.owner, "/v1/session", expires_at=expires_at.isoformat())
        return secret, replace(principal, expires_at=expires_at.timestamp(), is_session=True)

    @staticmethod
    def _replace(tx: Transaction, secret: bytes) -> None:
        if (owner := SessionRepository(tx).end(digest(secret))) is None:
            raise ConflictError("The session has ended.")
        tx.record("session.ended", owner, "/v1/session")

    def end(self, secret: bytes) -> None:
        """End a session, if it is there. Each API process refuses it within two seconds."""
        with self.transaction() as tx:
            if (owner := SessionRepository(tx).end(digest(secret))) is not None:
                tx.record("session.ended", owner, "/v1/session")
