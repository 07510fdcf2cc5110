"""Staleness of the current response: whether it depends on a cached name that could not be confirmed."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Staleness:
    """The age, in seconds, of the oldest unconfirmed name that a response depends on; None while all are confirmed."""

    age: float | None = None


CURRENT: ContextVar[Staleness | None] = ContextVar("staleness", default=None)
"""The staleness of the current request, set where the request begins and shared with its threads."""


def note_stale(age: float) -> None:
    """Record that the current request, if any, depends on a name last confirmed `age` seconds ago."""
    staleness = CURRENT.get()
    if staleness is not None:
        staleness.age = max(age, staleness.age or 0.0)
