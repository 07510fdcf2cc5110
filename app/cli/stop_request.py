"""A request to stop, set by a signal and awaited by the main thread."""

import select
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Self


class StopRequest:
    """A request to stop: SIGTERM, SIGINT, or a call of `set`.

    It is a socket pair and not a `threading.Event`, on which a main thread can miss a signal: one that arrives just
    before the thread blocks is handled only when something else wakes it, and one that arrives within `Event.wait`
    makes `Event.set` wait for a lock that the interrupted code holds. `signal.set_wakeup_fd` writes from C, at once.
    """

    def __init__(self) -> None:
        self._receiver, self._sender = socket.socketpair()
        self._sender.setblocking(False)

    @classmethod
    def by_signals(cls, on_request: Callable[[], None]) -> Self:
        """Return a request that SIGTERM and SIGINT set; each also calls `on_request` in the main thread."""
        request = cls()

        def handle(_signal: int, _frame: FrameType | None) -> None:
            on_request()

        signal.set_wakeup_fd(request._sender.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, handle)
        return request

    def set(self) -> None:
        """Request the stop; safe in any thread and in a signal handler, and idempotent."""
        with suppress(BlockingIOError):  # the buffer is full of requests
            self._sender.send(b"\0")

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for at most `seconds`, and return whether the stop is requested."""
        readable, _, _ = select.select([self._receiver], [], [], seconds)
        return bool(readable)
