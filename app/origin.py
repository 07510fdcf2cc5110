"""The origin of changes: who makes them and from where, in the context of the current request, job or command."""

import getpass
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

from relevance_bayes.records.audit import ActorKind


@dataclass(frozen=True, slots=True)
class Origin:
    """An actor, and of a request the owner of its credential, the client's address and `User-Agent`, and its id."""

    actor: ActorKind
    actor_id: str | None = None
    owner: str | None = None
    address: str | None = None
    user_agent: str | None = None
    request_id: str | None = None


FindOrigin: TypeAlias = Callable[[], Origin]
"""Returns an origin; called for changes alone, so that other requests do without it."""

SERVICE = Origin("service")
"""The origin of what no request, job or command causes, such as retention."""

CURRENT: ContextVar[FindOrigin] = ContextVar("origin")
"""Threads that a request starts by anyio have its context."""


def current_origin() -> Origin:
    """Return the origin of a change that is made now."""
    find = CURRENT.get(None)
    return SERVICE if find is None else find()


@contextmanager
def acting(origin: Origin) -> Iterator[None]:
    """Make an origin that of all changes in the block."""
    token = CURRENT.set(lambda: origin)
    try:
        yield
    finally:
        CURRENT.reset(token)


def command_origin() -> Origin:
    """Return the origin of a command: the user of the operating system and the host."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        user = "unknown"
    return Origin("command", f"{user}@{socket.gethostname()}")
