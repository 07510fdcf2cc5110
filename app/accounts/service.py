"""API keys of an owner, sessions of browsers, and members of projects: create, list, change, remove."""

import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from app.accounts.records import MAX_OWNER_LENGTH, MIN_KEY_LENGTH, SHOWN_LENGTH, digest, is_label, is_token, new_secret
from app.accounts.repository import (
    ApiKeyRepository,
    MemberRepository,
    SessionRepository,
    no_such_project,
    project_path,
    record_change,
)
from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import OpenTransaction, Transaction
from app.errors import ConflictError
from app.identity import BUILT_IN_OWNER, Principal, uuid7
from relevance_bayes.records.accounts import DEFAULT_SCOPES, KEY_SCOPES, MAX_NAME_LENGTH, ApiKey, KeyScope
from relevance_bayes.records.errors import Fault, InvalidRequestError, NotFoundError
from relevance_bayes.records.members import Member, MemberState, ProjectRole, Role

INITIAL = "initial"
"""The name of the key that the settings give."""


@dataclass(frozen=True)
class ApiKeys:
    """API keys; a secret is returned once, by the method that creates it."""

    transaction: OpenTransaction

    def create(
        self,
        owner: str,
        name: str,
        *,
        scopes: tuple[KeyScope, ...] = DEFAULT_SCOPES,
        expires_at: datetime | None = None,
        by: Principal | None = None,
    ) -> tuple[ApiKey, str]:
        """Create a key by a request of a principal, None for a command, and return it with its secret.

        Raises InvalidRequestError for an invalid name, owner or time, ConflictError for more than the maximum.
        """
        secret = new_secret()
        with self.transaction() as tx:
            key = _new(owner, name, scopes, secret, created_at=tx.clock(), expires_at=expires_at)
            key = _attributed(tx, key, by)
            ApiKeyRepository(tx).add(owner, key, digest(secret.encode()))
            record_change(tx, "key.created", owner, key)
        return key, secret

    def are_there(self) -> bool:
        """Return whether there is a key of any owner, so that requests need one."""
        with self.transaction() as tx:
            return ApiKeyRepository(tx).has_any()

    def page(self, owner: str, part: PageRequest) -> KeysetPage[ApiKey]:
        """Return a page of an owner's keys, revoked and expired ones too."""
        with self.transaction() as tx:
            return ApiKeyRepository(tx).page(owner, part)

    def get(self, owner: str, key_id: UUID) -> ApiKey:
        """Return a key; raises NotFoundError."""
        with self.transaction() as tx:
            return ApiKeyRepository(tx).get(owner, key_id)

    def rotate(
        self, owner: str, key_id: UUID, *, overlap: timedelta, by: Principal | None = None
    ) -> tuple[ApiKey, str]:
        """Create a key with the name and scopes of another, which expires after `overlap`; until then both are valid.

        A key that expires is replaced by one with the same lifetime. Raises NotFoundError, ConflictError where the
        key is not valid any more.
        """
        secret = new_secret()
        with self.transaction() as tx:
            repository, now = ApiKeyRepository(tx), tx.clock()
            old = repository.get(owner, key_id)
            if not old.is_valid(now):
                raise ConflictError(f"The API key {old.name!r} ({old.prefix}...) is revoked or has expired.")
            expires_at = None if old.expires_at is None else now + (old.expires_at - old.created_at)
            key = _new(owner, old.name, old.scopes, secret, created_at=now, expires_at=expires_at)
            key = _attributed(tx, key, by)
            repository.add(owner, key, digest(secret.encode()))
            repository.expire(owner, key_id, now + overlap)
            seconds = round(overlap.total_seconds())
            record_change(tx, "key.rotated", owner, key, rotated=str(key_id), overlap_seconds=seconds)
        return key, secret

    def revoke(self, owner: str, key_id: UUID) -> ApiKey:
        """Revoke a key, and return it; raises NotFoundError. Each API process refuses it within two seconds."""
        with self.transaction() as tx:
            return ApiKeyRepository(tx).revoke(owner, key_id)

    def add_initial(self, secret: str) -> bool:
        """Create a key of all scopes from a secret that an operator chose, where the database has no key.

        Return whether it was created. Raises InvalidRequestError for a short secret, and for a JSON Web Token.
        """
        if len(secret) < MIN_KEY_LENGTH:
            raise InvalidRequestError(
                f"Expected an API key of at least {MIN_KEY_LENGTH} characters, got {len(secret)}."
            )
        if is_token(secret.encode()):
            raise InvalidRequestError("Expected an API key, got a JSON Web Token.")
        with self.transaction() as tx:
            repository = ApiKeyRepository(tx)
            if repository.has_any():
                return False
            key = _new(BUILT_IN_OWNER, INITIAL, KEY_SCOPES, secret, created_at=tx.clock(), expires_at=None)
            repository.add(BUILT_IN_OWNER, key, digest(secret.encode()))
            record_change(tx, "key.created", BUILT_IN_OWNER, key)
        return True


def _attributed(tx: Transaction, key: ApiKey, by: Principal | None) -> ApiKey:
    return key if by is None else replace(key, made_by=ApiKeyRepository(tx).maker(by.credential))


def _new(
    owner: str,
    name: str,
    scopes: tuple[KeyScope, ...],
    secret: str,
    *,
    created_at: datetime,
    expires_at: datetime | None,
) -> ApiKey:
    for noun, text, maximum in (("a name", name, MAX_NAME_LENGTH), ("an owner", owner, MAX_OWNER_LENGTH)):
        if not is_label(text, maximum):
            raise InvalidRequestError(f"Expected {noun} of 1 to {maximum} printable characters, got {text!r}.")
    if not scopes:
        raise InvalidRequestError("Expected at least one scope.")
    if expires_at is not None and expires_at <= created_at:
        raise InvalidRequestError(f"Expected a time of expiry in the future, got {expires_at.isoformat()}.")
    in_order = tuple(scope for scope in KEY_SCOPES if scope in scopes)
    return ApiKey(str(uuid7()), name, secret[:SHOWN_LENGTH], in_order, created_at, expires_at, revoked_at=None)


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


@dataclass(frozen=True)
class MemberService:
    """The members of an owner's project; each API process sees a change within two seconds."""

    transaction: OpenTransaction

    def page(self, owner: str, *, limit: int, after: str | None, state: MemberState = "member") -> KeysetPage[Member]:
        """Return a page of members, or of those invited, by subject; raises InvalidRequestError for a bad cursor."""
        with self.transaction() as tx:
            return MemberRepository(tx).page(owner, limit=limit, after=after, state=state)

    def get(self, owner: str, subject: str) -> Member:
        """Return a member; raises NotFoundError."""
        with self.transaction() as tx:
            return MemberRepository(tx).get(owner, subject)

    def put(self, owner: str, subject: str, role: Role) -> tuple[Member, bool]:
        """Invite an owner, or change its role, and return it with whether it is new; it is a member once it accepts.

        The subject is not verified: it may get its first key later. Raises InvalidRequestError for an invalid one,
        ConflictError for the owner itself, and for more than the maximum.
        """
        if not is_label(subject, MAX_OWNER_LENGTH):
            detail = f"Expected an owner of 1 to {MAX_OWNER_LENGTH} printable characters, got {subject!r}."
            raise InvalidRequestError(detail, [Fault(detail, parameter="subject")])
        if subject == owner:
            raise ConflictError("The owner of a project has all its scopes there, and is no member of it.")
        with self.transaction() as tx:
            repository = MemberRepository(tx)
            is_new = repository.put(owner, subject, role)
            return repository.get(owner, subject), is_new

    def remove(self, owner: str, subject: str, *, revokes_keys: bool = True) -> tuple[ApiKey, ...]:
        """Delete a member, and return the valid keys of the project that it has made, revoked unless they are kept.

        Raises NotFoundError.
        """
        with self.transaction() as tx:
            return _remove(tx, owner, subject, revokes_keys=revokes_keys)

    def accept(self, owner: str, subject: str) -> Member:
        """Make a subject that is invited a member of a project; raises NotFoundError."""
        with self.transaction() as tx:
            repository = MemberRepository(tx)
            repository.accept(owner, subject)
            return repository.get(owner, subject)

    def leave(self, owner: str, subject: str) -> None:
        """Remove a subject from a project by its own request, or decline an invitation; its keys there are revoked.

        Raises NotFoundError.
        """
        try:
            with self.transaction() as tx:
                _remove(tx, owner, subject, revokes_keys=True)
                tx.record("project.left", subject, project_path(owner))
        except NotFoundError as error:
            raise no_such_project(owner) from error

    def projects(
        self, subject: str, *, limit: int, after: str | None, state: MemberState = "member"
    ) -> KeysetPage[tuple[str, ProjectRole]]:
        """Return a page of the projects of a subject, its own too, or of those it is invited to, by name, with roles.

        Raises InvalidRequestError for an invalid cursor.
        """
        with self.transaction() as tx:
            return MemberRepository(tx).projects(subject, limit=limit, after=after, state=state)


def _remove(tx: Transaction, owner: str, subject: str, *, revokes_keys: bool) -> tuple[ApiKey, ...]:
    MemberRepository(tx).remove(owner, subject)
    keys = ApiKeyRepository(tx)
    made = keys.made_by(owner, subject)
    return tuple(keys.revoke(owner, UUID(key.id)) for key in made) if revokes_keys else made
