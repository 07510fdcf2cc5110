"""Authentication by bearer tokens that are JSON Web Tokens (RFC 7519, RFC 9068) of one issuer, and its public keys."""

import ssl
import time
from asyncio import wrap_future
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock, Thread

import anyio
import httpx
import jwt
import msgspec
import structlog

from app.accounts.records import MAX_OWNER_LENGTH, is_label, is_token
from app.addresses import is_secure_url
from app.errors import UnavailableError
from app.http.authentication import Authenticator, secret_of
from app.identity import BUILT_IN_OWNER, Principal
from relevance_bayes.records.accounts import KEY_SCOPES

FETCH_SECONDS = 5.0
"""The maximum time of a fetch in all: discovery document, keys, and the connections for both."""

MIN_FETCH_SECONDS = 5.0
"""The minimum time between two fetches, however many tokens name unknown keys."""

MAX_AGE_SECONDS = 300.0
"""The age of the keys above which the next token that is verified starts a fetch, without waiting for it."""

MAX_DOCUMENT_BYTES = 1024 * 1024
DISCOVERY = "/.well-known/openid-configuration"

RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
CURVES: Mapping[tuple[str, str], str] = {
    ("EC", "P-256"): "ES256",
    ("EC", "P-384"): "ES384",
    ("EC", "P-521"): "ES512",
    ("OKP", "Ed25519"): "EdDSA",
}
"""The algorithms of keys on elliptic curves, by type and curve."""

log = structlog.stdlib.get_logger("app.accounts")


class FetchError(Exception):
    """Raised where the issuer's documents can't be fetched, or do not conform to the specification."""


@dataclass(frozen=True)
class Issuer:
    """An issuer, and the URL of its keys; without one, its discovery document names it."""

    url: str
    keys_url: str | None = None


class IssuerKeys:
    """The keys of an issuer; they stay as they were while it is unavailable. Safe to use from many threads."""

    def __init__(self, issuer: Issuer, *, now: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._now = now
        self._lock = Lock()
        self._attempted_at: float | None = None
        self._fetched_at: float | None = None
        self._fetching: Future[None] | None = None
        self._keys: Mapping[tuple[str | None, str], jwt.PyJWK] = {}
        self._documents: Sequence[object] = ()
        self.changes = 0
        """The number of fetches that found other keys than those before."""

    def find(self, key_id: str | None, algorithm: str) -> jwt.PyJWK | None:
        """Return a key; without an id, the only one for the algorithm."""
        keys = self._keys
        if key_id is not None:
            return keys.get((key_id, algorithm))
        suitable = [key for (_, of), key in keys.items() if of == algorithm]
        return suitable[0] if len(suitable) == 1 else None

    def refresh(self, *, older_than: float) -> "Future[None] | None":
        """Fetch the keys in a thread, unless they are not `older_than` that or another attempt was within
        MIN_FETCH_SECONDS; return the fetch in progress, None without one."""
        with self._lock:
            if self._fetching is not None:
                return self._fetching
            now = self._now()
            if self._attempted_at is not None and now - self._attempted_at < MIN_FETCH_SECONDS:
                return None
            if self._fetched_at is not None and now - self._fetched_at <= older_than:
                return None
            self._attempted_at = now
            self._fetching = fetching = Future[None]()
            fetching.set_running_or_notify_cancel()  # a caller that leaves cancels nothing
        Thread(target=self._fetch, args=(fetching,), name="issuer-keys", daemon=True).start()
        return fetching

    def check_fetched(self) -> None:
        """Raise UnavailableError where no keys have been fetched yet."""
        if self._fetched_at is None:
            raise UnavailableError("The keys of the issuer of tokens can't be fetched.")

    def _fetch(self, fetching: "Future[None]") -> None:
        try:
            documents = anyio.run(_documents, self._issuer)
            if documents != self._documents:
                self._keys = dict(_verification_keys(documents))
                self._documents = documents
                self.changes += 1
            self._fetched_at = self._now()
        except (FetchError, httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            log.warning("issuer keys not fetched", issuer=self._issuer.url, reason=str(error) or type(error).__name__)
        finally:
            with self._lock:
                self._fetching = None
            fetching.set_result(None)


async def _documents(issuer: Issuer) -> Sequence[object]:
    """Return the issuer's keys as documents, within FETCH_SECONDS; redirects are not followed. Raises FetchError."""
    trust = ssl.create_default_context()
    try:
        with anyio.fail_after(FETCH_SECONDS):
            async with httpx.AsyncClient(verify=trust, trust_env=False, timeout=FETCH_SECONDS) as client:
                keys_url = issuer.keys_url or await _keys_url(client, issuer.url)
                keys = (await _document(client, keys_url)).get("keys")
    except TimeoutError as error:
        raise FetchError(f"The issuer did not respond within {FETCH_SECONDS:g} seconds.") from error
    if not isinstance(keys, list):
        raise FetchError(f"Expected an array `keys` at {keys_url}.")
    return keys


async def _keys_url(client: httpx.AsyncClient, issuer: str) -> str:
    url = issuer.removesuffix("/") + DISCOVERY
    found = await _document(client, url)
    if found.get("issuer") != issuer:
        raise FetchError(f"Expected the issuer {issuer!r} at {url}, got {found.get('issuer')!r}.")
    keys_url = found.get("jwks_uri")
    if not isinstance(keys_url, str) or not is_secure_url(keys_url):
        raise FetchError(f"Expected a `jwks_uri` with https at {url}, got {keys_url!r}.")
    return keys_url


async def _document(client: httpx.AsyncClient, url: str) -> Mapping[str, object]:
    # Uncompressed: the maximum size holds for what is received.
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    content = bytearray()
    async with client.stream("GET", url, headers=headers) as response:
        if response.status_code != 200:
            raise FetchError(f"Expected status 200 at {url}, got {response.status_code}.")
        async for part in response.aiter_raw():
            content += part
            if len(content) > MAX_DOCUMENT_BYTES:
                raise FetchError(f"Expected at most {MAX_DOCUMENT_BYTES} bytes at {url}.")
    try:
        return msgspec.json.decode(content, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError) as error:
        raise FetchError(f"Expected a JSON object at {url}.") from error


def _verification_keys(documents: Sequence[object]) -> Iterator[tuple[tuple[str | None, str], jwt.PyJWK]]:
    """Yield public keys for signatures by id and algorithm; others, and those that can't be read, are left out."""
    for document in documents:
        if not isinstance(document, dict) or document.get("use", "sig") != "sig" or "d" in document:
            continue
        key_id = document.get("kid")
        for algorithm in _algorithms(document):
            try:
                key = jwt.PyJWK(document, algorithm)
            except (jwt.PyJWTError, ValueError, TypeError, KeyError):
                break
            yield (key_id if isinstance(key_id, str) else None, algorithm), key


def _algorithms(document: Mapping[str, object]) -> Sequence[str]:
    """Return the algorithms of the allow-list that a key may be used with."""
    kind, curve, named = (document.get(name) for name in ("kty", "crv", "alg"))
    permitted = RSA if kind == "RSA" else tuple(filter(None, [CURVES.get((str(kind), str(curve)))]))
    return permitted if named is None else tuple(one for one in permitted if one == named)


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
