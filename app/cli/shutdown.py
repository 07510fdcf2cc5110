"""The shutdown of a process: requests to stop, the end of standard input, and a limit on the time it takes."""

import _thread
import faulthandler
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Self

import structlog

MARGIN_SECONDS = 1.0
POLL_SECONDS = 0.1

STANDARD_INPUT = 0

log = structlog.stdlib.get_logger("app.watchdog")


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


def end_with_standard_input(end: Callable[[], None]) -> None:
    """Call `end` in a thread at the end of standard input, which the parent process closes when it ends."""

    def listen() -> None:
        # Not sys.stdin, whose lock makes the interpreter abort at exit while a thread waits in it.
        while os.read(STANDARD_INPUT, 4096):
            pass
        end()

    threading.Thread(target=listen, name="end-with-standard-input", daemon=True).start()


class Watchdog:
    """Ends the process `seconds` after it was armed, whatever its threads compute.

    Python ends a process only after all its threads, and a thread that computes cannot be cancelled, so a separate
    thread ends the process. It needs the GIL for a moment. Where C code holds the GIL, faulthandler's thread, which
    does not need it, prints the stack of each thread and ends the process `MARGIN_SECONDS` later.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadline: float | None = None

    def arm(self) -> None:
        """Start the countdown. Idempotent.

        It is safe in a signal handler: unlike `threading`, `_thread` takes no lock that the interrupted code may hold.
        """
        if self._deadline is None:
            self._count_from_now(self._seconds)
            _thread.start_new_thread(self._run, ())

    def restart(self, seconds: float) -> None:
        """Restart the countdown for the next step of the shutdown; has no effect before the watchdog is armed."""
        if self._deadline is not None:
            self._count_from_now(seconds)

    def _count_from_now(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds
        faulthandler.dump_traceback_later(seconds + MARGIN_SECONDS, exit=True)

    def _run(self) -> None:
        while self._deadline is not None and time.monotonic() < self._deadline:
            time.sleep(POLL_SECONDS)
        log.error("shutdown timed out: the process is ended")
        os._exit(1)
