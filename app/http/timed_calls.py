"""Database calls with a timeout."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from typing import TypeVar

from app.errors import UnavailableError

T = TypeVar("T")

MAX_RUNNING = 16
"""The maximum number of concurrent calls, including those that timed out and still run."""


class TimedCalls:
    """Runs calls in threads of their own, and stops waiting for them after a timeout.

    A database whose process is stopped, or whose network is cut, accepts a query and never responds; drivers cannot
    cancel such a wait. The call itself continues, so its result is kept when the database responds.
    """

    def __init__(self) -> None:
        self._running = 0
        self._lock = Lock()

    def call(self, function: Callable[[], T], *, seconds: float) -> T:
        """Return the result of `function` within `seconds`; else, or with too many running, raise UnavailableError."""
        with self._lock:
            if self._running >= MAX_RUNNING:
                raise UnavailableError("The database has not responded to earlier requests yet.")
            self._running += 1
        future: Future[T] = Future()
        try:
            Thread(target=self._run, args=(function, future), name="timed-call", daemon=True).start()
        except RuntimeError:
            self._end()
            raise UnavailableError("The process can't start more threads.") from None
        try:
            return future.result(seconds)
        except TimeoutError:
            raise UnavailableError(f"The database did not respond within {seconds:g} seconds.") from None

    def _run(self, function: Callable[[], T], future: "Future[T]") -> None:
        try:
            future.set_result(function())
        except BaseException as error:  # noqa: BLE001  # raised again for a caller that waits
            future.set_exception(error)
        finally:
            self._end()

    def _end(self) -> None:
        with self._lock:
            self._running -= 1
