"""Headers of responses: security headers, the Content-Security-Policy of pages, and the age of a stale name."""

from base64 import b64encode
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256

CONTENT_SECURITY_POLICY = "Content-Security-Policy"

COMMON = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
"""Headers of every response, pages included."""

SECURITY_HEADERS = {CONTENT_SECURITY_POLICY: "default-src 'none'; frame-ancestors 'none'", **COMMON}
"""Headers of every response that is not a page: nothing is loaded, executed or framed."""

HAS_POLICY = "has_policy"
"""The key, in the state of a request, that a route sets whose response has a policy of its own."""

PAGE_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'; "
    "img-src 'self'; script-src 'self'; style-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The policy of the page: files of this origin alone, nothing inline, and no text becomes markup or code."""

_PAGE = (
    "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; connect-src 'self'; "
    "img-src 'self' data:; style-src 'self' 'unsafe-inline'; worker-src blob:; script-src 'self'"
)


def encoded(headers: dict[str, str]) -> tuple[tuple[bytes, bytes], ...]:
    """Return headers as ASGI encodes them."""
    return tuple((name.lower().encode(), value.encode()) for name, value in headers.items())


def page_policy(html: str, *, form_action: str = "'none'") -> str:
    """Return the policy of a documentation page: scripts of this origin, and the page's inline ones by hash.

    Inline styles are allowed because the scripts set them. Forms may be sent to `form_action`.
    """
    scripts = (after.partition("</script>")[0] for after in html.split("<script>")[1:])
    hashes = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    return " ".join([f"form-action {form_action}; {_PAGE}", *(f"'sha256-{digest}'" for digest in hashes)])


@dataclass(slots=True)
class Staleness:
    """The age, in seconds, of the oldest unconfirmed name that a response depends on; None while all are confirmed."""

    age: float | None = None


CURRENT_STALENESS: ContextVar[Staleness | None] = ContextVar("staleness", default=None)
"""The staleness of the current request, set where the request begins and shared with its threads."""


def note_stale(age: float) -> None:
    """Record that the current request, if any, depends on a name last confirmed `age` seconds ago."""
    staleness = CURRENT_STALENESS.get()
    if staleness is not None:
        staleness.age = max(age, staleness.age or 0.0)
