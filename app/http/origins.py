"""The origin of a request's changes, from its scope; and the refusals that the audit records."""

import re
from typing import Protocol

from starlette.types import Scope

from app.http.problems import REQUEST_ID
from app.identity import LOCAL, Principal
from app.origin import Origin
from relevance_bayes.records.audit import ActorKind

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
