"""Authentication by bearer tokens that are JSON Web Tokens (RFC 7519, RFC 9068) of one issuer, beside API keys."""

import time
from asyncio import wrap_future
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256

import jwt

from app.accounts.issuer_keys import MAX_AGE_SECONDS, IssuerKeys
from app.accounts.records import MAX_OWNER_LENGTH, is_label, is_token
from app.http.authentication import Authenticator, secret_of
from app.identity import BUILT_IN_OWNER, Principal
from relevance_bayes.records.keys import KEY_SCOPES

MAX_TOKENS = 10_000
"""The maximum number of verified tokens in memory."""

LAST_EXPIRY = 253_402_300_799.0
"""The end of the year 9999: tokens that expire later count as expiring then."""

MIN_HEADER_LENGTH = 128
"""Shorter headers have no signed token, and are not hashed: API keys of the service have 47 characters."""


@dataclass(frozen=True)
class TokenRules:
    """The claims that tokens must have: issuer, audience, an owner; `leeway_seconds` is for clocks that differ.

    The owner `local`, which everything has that was created without a key, is that of tokens whose owner claim is
    `local_subject`, and of no other: an issuer may let its users choose a name.
    """

    issuer: str
    audience: str
    owner_claim: str = "sub"
    leeway_seconds: float = 30.0
    local_subject: str | None = None

    def principal(self, token: str, key: jwt.PyJWK) -> Principal | None:
        """Return the principal of a token; None where its signature or a claim is not valid."""
        try:
            claims: Mapping[str, object] = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=self.audience,
                issuer=self.issuer,
                leeway=self.leeway_seconds,
                options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            return None
        owner, expiry = claims.get(self.owner_claim), claims["exp"]
        if not isinstance(owner, str) or not is_label(owner, MAX_OWNER_LENGTH) or not isinstance(expiry, int | float):
            return None
        if owner == self.local_subject:
            owner = BUILT_IN_OWNER
        elif owner == BUILT_IN_OWNER:
            return None
        given = _texts(claims["scope"] if "scope" in claims else claims.get("scp"))
        scopes = frozenset(scope for scope in KEY_SCOPES if scope in given)
        return Principal(owner, scopes, float(min(expiry, LAST_EXPIRY)))


class TokenAuthenticator:
    """Authenticates requests by tokens of an issuer, and by what else `keys` accepts.

    Verified tokens are kept by their SHA-256 digests until they expire or the issuer's keys change, and verified again
    after MAX_AGE_SECONDS. Requests with an unknown key id wait for the issuer's keys; other requests never do.
    """

    def __init__(self, keys: Authenticator, issuer_keys: IssuerKeys, rules: TokenRules) -> None:
        self._keys = keys
        self._issuer_keys = issuer_keys
        self._rules = rules
        self._verified: dict[bytes, tuple[Principal, float]] = {}
        self._changes = 0

    @property
    def needs_keys(self) -> bool:
        """Return true: a request without a token needs an API key."""
        return True

    async def is_open(self) -> bool:
        """Return false."""
        return False

    def known(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal | None:
        """Return the principal of a verified token, a known key or session; None where there is none."""
        self._forget_changed()
        if len(authorizations) == 1:
            (header,) = authorizations
            if len(header) >= MIN_HEADER_LENGTH:
                found = self._verified.get(sha256(header).digest())
                if found is not None and time.time() < found[1]:
                    return found[0]
        return self._keys.known(authorizations, session)

    async def authenticate(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal | None:
        """Return the principal, None where token, key or session is not valid; raises UnavailableError."""
        secret = secret_of(authorizations)
        if secret is None or not is_token(secret):
            return await self._keys.authenticate(authorizations, session)
        try:
            token = secret.decode("ascii")
            header: Mapping[str, object] = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError):
            return None
        key = await self._key(header)
        found = None if key is None else self._rules.principal(token, key)
        if found is None:
            return None
        self._keep(authorizations, found)
        return found

    def known_session(self, session: bytes) -> Principal | None:
        """Return the own principal of a session that has not ended, though its membership may have."""
        return self._keys.known_session(session)

    def known_acting(self, principal: Principal, project: bytes) -> Principal | None:
        """Return the principal in a project without I/O, None where that needs I/O, or it is no member."""
        return self._keys.known_acting(principal, project)

    async def acting(self, principal: Principal, project: bytes) -> Principal | None:
        """Return the principal in a project, None where it is no member; raises UnavailableError."""
        return await self._keys.acting(principal, project)

    async def _key(self, header: Mapping[str, object]) -> jwt.PyJWK | None:
        key_id, algorithm = header.get("kid"), header.get("alg")
        if not isinstance(algorithm, str) or not (key_id is None or isinstance(key_id, str)):
            return None
        self._forget_changed()
        key = self._issuer_keys.find(key_id, algorithm)
        fetch = self._issuer_keys.refresh(older_than=0.0 if key is None else MAX_AGE_SECONDS)
        if key is None:
            if fetch is not None:
                await wrap_future(fetch)
            self._issuer_keys.check_fetched()
            self._forget_changed()  # before the key is found: a later change clears what is verified by it
            key = self._issuer_keys.find(key_id, algorithm)
        return key

    def _forget_changed(self) -> None:
        """Forget the verified tokens where the issuer's keys have changed."""
        if self._changes != self._issuer_keys.changes:
            self._changes = self._issuer_keys.changes
            self._verified.clear()

    def _keep(self, authorizations: Collection[bytes], found: Principal) -> None:
        while len(self._verified) >= MAX_TOKENS:
            del self._verified[next(iter(self._verified))]  # the oldest
        until = time.time() + MAX_AGE_SECONDS
        if found.expires_at is not None:
            until = min(found.expires_at + self._rules.leeway_seconds, until)
        (header,) = authorizations
        self._verified[sha256(header).digest()] = found, until


def _texts(given: object) -> Collection[str]:
    """Return the entries of a claim that is a string with spaces, or an array."""
    if isinstance(given, str):
        return given.split()
    return [one for one in given if isinstance(one, str)] if isinstance(given, list) else ()
