"""The cookies of sessions, and the check that a page of this service sends a request (CSRF)."""

import re

from starlette.datastructures import Headers
from starlette.types import Scope

from app.errors import CrossSiteError

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
