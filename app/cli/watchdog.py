"""A limit on the time that a process takes to stop."""

import _thread
import faulthandler
import os
import time

import structlog

MARGIN_SECONDS = 1.0
POLL_SECONDS = 0.1

log = structlog.stdlib.get_logger("app.watchdog")


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
