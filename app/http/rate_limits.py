"""Limits of the rates at which an owner sends requests and predicts rows, for every protocol."""

from contextvars import ContextVar
from typing import Protocol

from app.http.paths import METRICS


class Rates(Protocol):
    """The limited rates of one owner."""

    def take_request(self) -> None:
        """Count a request; raises RateLimitError where it is above the limit."""

    def check_rows(self) -> None:
        """Raise RateLimitError where the rows predicted so far are above the limit."""

    def charge_rows(self, rows: int) -> None:
        """Count predicted rows."""

    def headers(self) -> tuple[tuple[bytes, bytes], tuple[bytes, bytes]]:
        """Return the headers `RateLimit-Policy` and `RateLimit` of a response."""


class RateLimits(Protocol):
    """The limited rates of all owners."""

    def of(self, owner: str) -> Rates | None:
        """Return the rates of an owner without I/O; None where they are not limited."""


class Unlimited:
    """No limits."""

    def of(self, owner: str) -> None:
        """Return None."""


CURRENT: ContextVar[Rates | None] = ContextVar("rates", default=None)
"""The limited rates of the owner of the current request, set where the request begins and shared with its threads."""


def is_limited(path: str) -> bool:
    """Return whether requests for a path count; those for metrics, which are of all owners, do not."""
    return path != METRICS


def check_rows() -> None:
    """Raise RateLimitError where the owner of the current request has predicted rows above its limit."""
    rates = CURRENT.get()
    if rates is not None:
        rates.check_rows()


def charge_rows(rows: int) -> None:
    """Count predicted rows of the current request."""
    rates = CURRENT.get()
    if rates is not None:
        rates.charge_rows(rows)
