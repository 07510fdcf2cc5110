"""The public keys of an OpenID Connect issuer (JSON Web Key Set, RFC 7517), fetched in threads and kept in memory."""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock, Thread

import anyio
import httpx
import jwt
import msgspec
import structlog

from app.addresses import is_secure_url
from app.errors import UnavailableError

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
