"""The hosts and pages whose requests are executed, and the origin of a request's changes.

Without API keys, what a browser on the same machine or network can reach, every page in it could use: by a cross-site
request, or, where a name of the page's own is resolved to an address of the service (DNS rebinding), as its own origin.
"""

import re
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Protocol

from starlette.types import Scope

from app.addresses import Allowance
from app.errors import CrossSiteError, MisdirectedError
from app.http.authentication import check_own_page
from app.http.openapi import DOCS, REDOC
from app.http.paths import GUIDE, HEALTH, INFERENCE_HEALTH, METRICS, PAGE, is_below
from app.http.problems import REQUEST_ID
from app.identity import LOCAL, Principal
from app.origin import Origin
from relevance_bayes.records.audit import ActorKind

MAX_KNOWN = 1_000
"""The maximum number of values of `Host` whose check is kept."""

PAGES = frozenset({PAGE, DOCS, REDOC})

_AUTHORITY = re.compile(rb"(\[[0-9A-Fa-f:.]{1,45}\]|[A-Za-z0-9._-]{1,255})(?::[0-9]{1,5})?")
_PERMITTED = "RELEVANCE_CORS_ORIGINS permits pages of other origins."
_LOOPBACK = Allowance.of("127.0.0.0/8,::1")


def is_page(path: str) -> bool:
    """Return whether a path is that of a document for browsers: the page, the guide, or the API's documentation."""
    return path in PAGES or is_below(path, GUIDE)


@dataclass(frozen=True)
class Hosts:
    """The hosts that requests to a service without keys may name, besides localhost and loopback addresses, and the
    `origins` whose pages may send some (`*`: all).

    With `own_address` a request may also name the address at which its connection has arrived, as in a container.
    """

    allowed: Allowance = field(default_factory=Allowance)
    origins: frozenset[str] = frozenset()
    own_address: bool = False
    _known: set[bytes] = field(default_factory=set, compare=False)

    @staticmethod
    def covers(path: str) -> bool:
        """Return whether requests to a path are checked: all but probes and metrics, since monitoring addresses
        processes by names of its own."""
        return not (path == METRICS or is_below(path, HEALTH) or is_below(path, INFERENCE_HEALTH))

    def check_page(self, scope: Scope, path: str) -> None:
        """Check the page that has a browser send a request; raises CrossSiteError."""
        origins = {value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"}
        if not self.admits_origins(origins) and not _is_navigation(scope, path):
            try:
                check_own_page(scope, needs_origin=False)
            except CrossSiteError as error:
                raise CrossSiteError(f"{error.detail} {_PERMITTED}") from error

    def check_origins(self, origins: list[bytes]) -> None:
        """Check the page that a proxy forwards a call over gRPC of; raises CrossSiteError."""
        if origins and not self.admits_origins({origin.decode("latin-1") for origin in origins}):
            raise CrossSiteError("Expected a call by a program, got one by a web page. " + _PERMITTED)

    def check_names(self, names: list[bytes], server: tuple[str, int | None] | None) -> None:
        """Check the values of `Host`, of which there must be one; raises MisdirectedError."""
        if len(names) == 1:
            if names[0] in self._known:
                return
            if (host := _host_of(names[0])) is not None:
                if self._is_named(host):
                    if len(self._known) < MAX_KNOWN:
                        self._known.add(names[0])
                    return
                if self.own_address and server is not None and _is_same_address(host, server[0]):
                    return
        got = ", ".join(repr(name.decode("latin-1")) for name in names) or "none"
        raise MisdirectedError(
            f"Expected localhost or a loopback address as the host, got {got}: a service without API keys responds to "
            "requests for other hosts only where RELEVANCE_ALLOWED_HOSTS lists them."
        )

    def admits_origins(self, origins: set[str]) -> bool:
        """Return whether a page of an origin that requests name may send them, wherever it is."""
        return bool(origins) and ("*" in self.origins or origins <= self.origins)

    def _is_named(self, host: str) -> bool:
        """Return whether a host is of this machine, or allowed."""
        try:
            address = _address(host)
        except ValueError:
            name = host.rstrip(".")
            return name == "localhost" or name.endswith(".localhost") or name in self.allowed.names
        return any(address in network for network in (*_LOOPBACK.networks, *self.allowed.networks))


def _host_of(value: bytes) -> str | None:
    """Return the host of an authority, in lower case and without brackets and port; None where it has no such form."""
    found = _AUTHORITY.fullmatch(value)
    return None if found is None else found[1].decode().lower().strip("[]")


def _address(text: str) -> IPv4Address | IPv6Address:
    """Return an address; one of IPv4 also where a socket of IPv6 has it in the form ::ffff:a.b.c.d. Raises
    ValueError."""
    address = ip_address(text)
    return getattr(address, "ipv4_mapped", None) or address


def _is_same_address(host: str, server: str) -> bool:
    try:
        return _address(host) == _address(server)
    except ValueError:  # a name, or the path of a socket
        return False


def _is_navigation(scope: Scope, path: str) -> bool:
    """Return whether a browser opens a page in a window of its own, as a link from elsewhere does."""
    fetched = {name: value for name, value in scope["headers"] if name.startswith(b"sec-fetch-")}
    is_top_level = (fetched.get(b"sec-fetch-mode"), fetched.get(b"sec-fetch-dest")) == (b"navigate", b"document")
    return scope["method"] == "GET" and is_top_level and is_page(path)


PRINCIPAL = "principal"
"""The key of a request's principal in its scope's state."""

MAX_AGENT_LENGTH = 200
_UNPRINTABLE = re.compile(r"[^ -~]+")


def origin_of(scope: Scope) -> Origin:
    """Return the origin of a request's changes; the client's address is the one that a known proxy has forwarded."""
    state, client = scope["state"], scope.get("client")
    agent = next((value for name, value in scope["headers"] if name == b"user-agent"), None)
    principal: Principal = state.get(PRINCIPAL, LOCAL)
    return Origin(
        *actor_of(principal),
        owner=principal.credential.owner,
        address=client[0] if client else None,
        user_agent=None if agent is None else _UNPRINTABLE.sub("?", agent.decode("latin-1"))[:MAX_AGENT_LENGTH],
        request_id=state.get(REQUEST_ID),
    )


def actor_of(principal: Principal) -> tuple[ActorKind, str | None]:
    """Return the kind of a principal's credential and its id: that of the API key, or the owner that a token names."""
    key_id = None if principal.key_id is None else str(principal.key_id)
    if principal.is_session:
        return "session", key_id or principal.credential.owner
    if key_id is not None:
        return "api_key", key_id
    return ("anonymous", None) if principal.expires_at is None else ("token", principal.credential.owner)


class Refusals(Protocol):
    """Records requests that were refused to a known owner."""

    def record(self, owner: str, method: str, path: str, status: int) -> None:
        """Record a refusal, or count it where its owner has had too many; blocks the thread, never raises."""


class NoRefusals:
    """Records nothing."""

    def record(self, owner: str, method: str, path: str, status: int) -> None:
        """Do nothing."""
