"""The hosts and the pages whose requests a service without API keys executes.

Without keys, what a browser on the same machine or network can reach, every page in it could use: by a cross-site
request, or, where a name of the page's own is resolved to an address of the service (DNS rebinding), as its own origin.
"""

import re
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address

from starlette.types import Scope

from app.addresses import Allowance
from app.errors import CrossSiteError, MisdirectedError
from app.http.documentation_pages import DOCS, REDOC
from app.http.paths import GUIDE, HEALTH, INFERENCE_HEALTH, METRICS, PAGE, is_below
from app.http.session_cookies import check_own_page

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
