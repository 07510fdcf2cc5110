"""A stop asked for by a signal, waited for by the main thread."""

import select
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Self


class StopRequest:
    """SIGTERM, SIGINT, or a call of `set`.

    It is a socket pair and not a `threading.Event`, on which a main thread can miss a signal: one that arrives just
    before the thread blocks is seen only when something else wakes it, and one that arrives within `Event.wait` makes
    `Event.set` wait for a lock that the interrupted code holds. `signal.set_wakeup_fd` writes from C, at once.
    """

    def __init__(self) -> None:
        self._receiver, self._sender = socket.socketpair()
        self._sender.setblocking(False)

    @classmethod
    def by_signals(cls, on_request: Callable[[], None]) -> Self:
        """A request that SIGTERM and SIGINT make, each of which also calls `on_request` in the main thread."""
        request = cls()

        def handle(_signal: int, _frame: FrameType | None) -> None:
            on_request()

        signal.set_wakeup_fd(request._sender.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, handle)
        return request

    def set(self) -> None:
        """Request the stop; safe in any thread and in a signal handler, more than once."""
        with suppress(BlockingIOError):  # The buffer is full of requests.
            self._sender.send(b"\0")

    def wait(self, seconds: float | None = None) -> bool:
        """Return whether the stop is requested, after at most `seconds`."""
        readable, _, _ = select.select([self._receiver], [], [], seconds)
        return bool(readable)
