"""Cooperative cancellation of work in a thread: the work itself checks, between its pieces, whether to go on."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar, TypeVarTuple, Unpack

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


class WorkCancelledError(Exception):
    """Raised by `check_cancelled` within work that was cancelled."""


class Cancellation:
    """Work that can be cancelled from another thread."""

    def __init__(self) -> None:
        self._is_cancelled = False
        self.has_begun = False

    def cancel(self) -> None:
        """Have the work end at its next check."""
        self._is_cancelled = True

    def check(self) -> None:
        """Raise WorkCancelledError where the work is cancelled."""
        if self._is_cancelled:
            raise WorkCancelledError

    def run(self, call: Callable[[Unpack[Arguments]], T], *arguments: *Arguments) -> T:
        """The call's result; `check_cancelled` within it is a check of this."""
        self.has_begun = True
        self.check()
        before = _current.set(self)
        try:
            return call(*arguments)
        finally:
            _current.reset(before)


_current: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


def check_cancelled() -> None:
    """Raise WorkCancelledError within work that is cancelled, nothing within any other."""
    cancellation = _current.get()
    if cancellation is not None:
        cancellation.check()
