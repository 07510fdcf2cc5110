"""Staleness of the current response: whether it rests on names as last known."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Staleness:
    """The age, in seconds, of the oldest name that a request was answered by; None while each was confirmed."""

    age: float | None = None


CURRENT: ContextVar[Staleness | None] = ContextVar("staleness", default=None)
"""The current request's; set where a request begins, so that the threads that work for it share it."""


def note_stale(age: float) -> None:
    """Note that the current request, if there is one, is answered by a name that was confirmed `age` seconds ago."""
    staleness = CURRENT.get()
    if staleness is not None:
        staleness.age = max(age, staleness.age or 0.0)
