"""Authentication and authorization of requests, for every protocol."""

import re
from collections.abc import Collection
from typing import Protocol

from app.http.paths import INFERENCE, LIMITS, OWN, is_below
from app.identity import LOCAL, Principal
from relevance_bayes.types.keys import KeyScope

HOW_TO_SEND = "Send a valid API key or token as `Authorization: Bearer <key>`."

KEYS = f"{OWN}/keys"
SESSION = f"{OWN}/session"
AUDIT = f"{OWN}/audit"
REFUSED = frozenset({403, 404, 409, 412})
"""The statuses of requests that are well-formed and not permitted or not possible."""

READING = frozenset({"GET", "HEAD", "OPTIONS"})
BATCH_PREDICTIONS = f"{OWN}/batch-predictions"
MODEL_INDEX = f"{INFERENCE}/repository/index"
"""A list, which the protocol requests by POST."""

_PREDICTING = re.compile(rf"{OWN}/models/[^/]+(/versions/[^/]+)?/(predict|compare)")
"""Actions that only predict, by POST; other methods have resources there, such as an alias named `predict`."""


class Authenticator(Protocol):
    """Finds the principal of a request from its `Authorization` headers, or, where there is none, from the secret of
    its session."""

    def known(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal | None:
        """Return the principal without I/O; None where that needs I/O, or there is none."""

    async def authenticate(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal | None:
        """Return the principal, None where the request is not authenticated; raises UnavailableError."""

    @property
    def needs_keys(self) -> bool:
        """Return whether all requests need a key; where they do not, they may need one later."""


class AllowAny:
    """The authenticator of a service that needs no key."""

    def known(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal:
        """Return the local principal."""
        return LOCAL

    async def authenticate(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal:
        """Return the local principal."""
        return LOCAL

    @property
    def needs_keys(self) -> bool:
        """Return false."""
        return False


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
    """Return the scopes, beside `admin`, each of which permits a request; none for keys, others' limits, the audit."""
    if is_below(path, KEYS) or is_below(path, AUDIT) or path.startswith(f"{LIMITS}/"):
        return ()
    if path == SESSION:
        return ("predict", "read", "train")
    if is_below(path, INFERENCE):
        return ("predict", "read") if method in READING or path == MODEL_INDEX else ("predict",)
    if method in READING:
        return ("read",)
    if is_below(path, BATCH_PREDICTIONS):
        return ("predict", "train")
    return ("predict",) if method == "POST" and _PREDICTING.fullmatch(path) else ("train",)
