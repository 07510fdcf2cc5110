"""Authentication and authorization of requests, for every protocol."""

import re
from collections.abc import Collection
from typing import Protocol

from app.http.paths import INFERENCE, LIMITS, OWN, is_below
from app.http.projects import project_of
from app.identity import LOCAL, Principal
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.keys import KeyScope

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
