"""Authentication and authorization of requests, for every protocol: keys, session cookies, projects."""

import asyncio
import re
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import unquote

import anyio
from starlette.datastructures import Headers
from starlette.types import Scope

from app.errors import CrossSiteError, UnauthenticatedError, UnavailableError
from app.http.paths import INFERENCE, LIMITS, OWN, is_below, path_of
from app.identity import LOCAL, Principal
from relevance_bayes.records.accounts import KeyScope
from relevance_bayes.records.errors import NotFoundError

PROJECT_HEADER = "Relevance-Project"
PROJECT_HEADER_NAME = PROJECT_HEADER.lower().encode()
"""The header's name in requests, and in the metadata of gRPC."""

PROJECT_DESCRIPTION = (
    "The project in which the request acts: the owner whose resources it sees, with the characters of a URL's path. "
    "By default it is the owner of the API key, token or session. 404 where that is no member of such a project."
)


def joined(headers: Sequence[bytes]) -> bytes:
    """Return several headers as the one that they are equivalent to (RFC 9110, section 5.3)."""
    return b", ".join(headers)


def project_of(header: bytes) -> str:
    """Return the owner in a header: UTF-8, percent-encoded as in a URL's path."""
    return unquote(header.decode("utf-8", "replace"))


NAME = b"relevance-session"
HOST_NAME = b"__Host-relevance-session"
"""The name under https: browsers accept it with `Secure` alone, and from no other host or path."""

_COOKIES = re.compile(rb"(?:^|;)[ \t]*((?:__Host-)?relevance-session)=([^; \t]*)")

OWN_SITES = frozenset({"same-origin", "none"})
"""The values of `Sec-Fetch-Site` of requests by a page of the same origin, and by the user."""


def session_of(scope: Scope) -> bytes | None:
    """Return the secret of a request's session; None where it has none, or several.

    Under https the other name is ignored, since pages of other hosts of a domain can set it.
    """
    cookies = b";".join(value for name, value in scope["headers"] if name == b"cookie")
    found: list[tuple[bytes, bytes]] = _COOKIES.findall(cookies)
    secrets = [secret for name, secret in found if name == HOST_NAME]
    if not secrets and scope["scheme"] != "https":
        secrets = [secret for _, secret in found]
    return secrets[0] if len(secrets) == 1 else None


def session_cookie(scope: Scope, secret: str, *, seconds: int) -> str:
    """Return the `Set-Cookie` header of a new session.

    It is `Secure` where the scheme of the request is https or, behind a proxy that ends TLS, that of its page's origin.
    """
    is_secure = scope["scheme"] == "https" or Headers(scope=scope).get("origin", "").startswith("https://")
    return _cookie(HOST_NAME if is_secure else NAME, secret, seconds)


def expired_cookies() -> tuple[str, str]:
    """Return the `Set-Cookie` headers that remove the cookie of a session under both names."""
    return _cookie(HOST_NAME, "", 0), _cookie(NAME, "", 0)


def check_own_page(scope: Scope, *, needs_origin: bool) -> None:
    """Raise CrossSiteError for a request by a page of another origin, and, where it `needs_origin`, for one of unknown
    origin.

    `Origin` is compared where the browser sends no `Sec-Fetch-Site`, as by http. It is `null` for pages without an
    origin, such as files and sandboxed frames.
    """
    headers = Headers(scope=scope)
    sites, origins = set(headers.getlist("sec-fetch-site")), set(headers.getlist("origin"))
    if sites:
        is_own, got = sites <= OWN_SITES, f"Sec-Fetch-Site: {', '.join(sorted(sites))}"
    elif origins:
        is_own, got = origins <= _origins(scope, headers), f"Origin: {', '.join(sorted(origins))}"
    else:
        is_own, got = not needs_origin, "neither `Sec-Fetch-Site` nor `Origin`"
    if not is_own:
        raise CrossSiteError(f"Expected a request by a page of this service, got {got}.")


def _origins(scope: Scope, headers: Headers) -> set[str]:
    """Return the origins of this service's pages; https is one of them, since a proxy may end TLS."""
    return {f"{scheme}://{headers.get('host', '').lower()}" for scheme in ("https", scope["scheme"])}


def _cookie(name: bytes, secret: str, seconds: int) -> str:
    secure = "; Secure" if name == HOST_NAME else ""
    return f"{name.decode()}={secret}; Max-Age={seconds}; Path=/; HttpOnly; SameSite=Strict{secure}"


HOW_TO_SEND = "Send a valid API key or token as `Authorization: Bearer <key>`."

KEYS = f"{OWN}/keys"
MEMBERS = f"{OWN}/members"
PROJECTS = f"{OWN}/projects"
"""Projects, which their paths name: these requests act for the owner of the key, token or session, in no project."""

SESSION = f"{OWN}/session"
AUDIT = f"{OWN}/audit"
LOGOUT = ("DELETE", SESSION)
REFUSED = frozenset({403, 404, 409, 412})
"""The statuses of requests that are well-formed and not permitted or not possible."""

READING = frozenset({"GET", "HEAD", "OPTIONS"})
BATCH_PREDICTIONS = f"{OWN}/batch-predictions"
MODEL_INDEX = f"{INFERENCE}/repository/index"
"""A list, which the protocol requests by POST."""

_OF_ADMINS = frozenset({KEYS, MEMBERS, AUDIT})
_BELOW_ADMINS = tuple(f"{path}/" for path in (KEYS, MEMBERS, AUDIT, LIMITS))
"""Own limits, which have no path below, are for `read` too."""

_OF_ALL = frozenset({SESSION, PROJECTS})

_PREDICTING = re.compile(rf"{OWN}/models/[^/]+(/versions/[^/]+)?/(predict|compare|profile)")
"""Actions that only predict, by POST; other methods have resources there, such as an alias named `predict`."""

_OF_BATCH_PREDICTION = re.compile(rf"{BATCH_PREDICTIONS}/[^/]+(/result)?")
"""A batch prediction and its file, which a key of the scope `predict` may read where it has submitted it."""

_OUTCOMES = re.compile(rf"{OWN}/models/[^/]+/outcomes")
"""Outcomes come from a program that predicts, or from one that prepares data for training."""


class Authenticator(Protocol):
    """Finds the principal of a request from its `Authorization` headers, or, where there is none, from the secret of
    its session."""

    def known(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal | None:
        """Return the principal without I/O; None where that needs I/O, or there is none."""

    async def authenticate(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal | None:
        """Return the principal, None where the request is not authenticated; raises UnavailableError."""

    def known_session(self, session: bytes) -> Principal | None:
        """Return the own principal of a session that has not ended, though its membership may have.

        Without I/O: after `authenticate` of the same session.
        """

    def known_acting(self, principal: Principal, project: bytes) -> Principal | None:
        """Return the principal in the project that a header names, without I/O.

        None where that needs I/O, or the owner of its key or token is no member of such a project.
        """

    async def acting(self, principal: Principal, project: bytes) -> Principal | None:
        """Return the principal in a project, None where it is no member of such a project; raises UnavailableError."""

    @property
    def needs_keys(self) -> bool:
        """Return whether all requests need a key; where they do not, they may need one later."""

    async def is_open(self) -> bool:
        """Return whether requests need no key now; raises UnavailableError where that is not known."""


class AllowAny:
    """The authenticator of a service that needs no key."""

    def known(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal:
        """Return the local principal."""
        return LOCAL

    async def authenticate(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal:
        """Return the local principal."""
        return LOCAL

    def known_session(self, session: bytes) -> Principal | None:
        """Return None: requests have no sessions."""
        return None

    def known_acting(self, principal: Principal, project: bytes) -> Principal | None:
        """Return the principal in its own project; it has no other."""
        return principal if project_of(project) == principal.owner else None

    async def acting(self, principal: Principal, project: bytes) -> Principal | None:
        """Return the principal in its own project; it has no other."""
        return self.known_acting(principal, project)

    @property
    def needs_keys(self) -> bool:
        """Return false."""
        return False

    async def is_open(self) -> bool:
        """Return true."""
        return True


async def in_project(authenticator: Authenticator, principal: Principal, header: bytes) -> Principal:
    """Return a principal in the project that a header names.

    Raises NotFoundError, the same where the project is unknown and where it is not shared, and UnavailableError.
    """
    known = authenticator.known_acting(principal, header)
    acting = known or await authenticator.acting(principal, header)
    if acting is None:
        raise NotFoundError(f"There is no project {project_of(header)!r}.")
    return acting


def secret_of(authorizations: Collection[bytes]) -> bytes | None:
    """Return the key in exactly one `Authorization` header of the scheme Bearer, which is case-insensitive."""
    if len(authorizations) != 1:
        return None
    (header,) = authorizations
    scheme, _, secret = header.partition(b" ")
    return secret.strip() if scheme.lower() == b"bearer" else None


def is_refusal(method: str, path: str, status: int) -> bool:
    """Return whether a status refuses a request for lack of permission, or a change for the state of a resource."""
    if status == 403:
        return True
    if status not in REFUSED or method in READING:
        return False
    scopes = sufficient_scopes(method, path)
    return not scopes or "train" in scopes


def sufficient_scopes(method: str, path: str) -> tuple[KeyScope, ...]:
    """Return the scopes, beside `admin`, each of which permits a request; none for what admins alone do."""
    if path in _OF_ADMINS or path.startswith(_BELOW_ADMINS):
        return ()
    if path in _OF_ALL:
        return ("predict", "read", "train")
    if is_below(path, INFERENCE):
        return ("predict", "read") if method in READING or path == MODEL_INDEX else ("predict",)
    if method in READING:
        return ("read", "predict") if _OF_BATCH_PREDICTION.fullmatch(path) else ("read",)
    if is_below(path, BATCH_PREDICTIONS) or _OUTCOMES.fullmatch(path):
        return ("predict", "train")
    return ("predict",) if method == "POST" and _PREDICTING.fullmatch(path) else ("train",)


CHECK_SECONDS = 2.0
"""The seconds between two checks of a request that waits. Keys and sessions are known for a second, so it ends within
about three after its credential was revoked."""


@dataclass(frozen=True)
class Reauthentication:
    """Authenticates requests again by what their first authentication had."""

    authenticator: Authenticator

    async def check(self, scope: Scope) -> None:
        """Raise UnauthenticatedError where a request would be refused now; while the database is away it would not."""
        keys = [value for name, value in scope["headers"] if name == b"authorization"]
        session = None if keys else session_of(scope)
        try:
            found = self.authenticator.known(keys, session) or await self.authenticator.authenticate(keys, session)
            named = [value for name, value in scope["headers"] if name == PROJECT_HEADER_NAME]
            if named and found is not None:
                found = await in_project(self.authenticator, found, joined(named))
        except UnavailableError:
            return
        except NotFoundError:
            found = None
        if found is None or not found.has_any(sufficient_scopes(scope["method"], path_of(scope))):
            raise UnauthenticatedError(HOW_TO_SEND)


@dataclass(frozen=True)
class LastingRequest:
    """A request that waits, and is authenticated again every CHECK_SECONDS, and before each part of its response."""

    scope: Scope
    reauthentication: Reauthentication

    async def check(self) -> None:
        """Authenticate the request by what is known, or the database has now; raises UnauthenticatedError."""
        await self.reauthentication.check(self.scope)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait for an event, for at most so many seconds; return whether it is set. Raises UnauthenticatedError."""
        end = time.monotonic() + seconds
        while not event.is_set() and (left := end - time.monotonic()) > 0:
            with anyio.move_on_after(min(left, CHECK_SECONDS)):
                await event.wait()
            await self.check()
        return event.is_set()
