"""Waiting for what other threads and processes do, with an end."""

import time
from collections.abc import Callable

MAX_PAUSE = 0.5


def until(happened: Callable[[], bool], *, seconds: float = 10.0, pause: float = 0.02) -> None:
    """Return when it has happened; an AssertionError when it has not after so many seconds.

    The pauses grow from the first to a tenth of the time waited, MAX_PAUSE at most: `happened` may be several queries,
    which take time from the processes that are waited for.
    """
    began = time.monotonic()
    while not happened():
        waited = time.monotonic() - began
        assert waited < seconds, f"did not happen within {seconds} s"
        time.sleep(min(max(pause, waited / 10.0), max(pause, MAX_PAUSE), seconds - waited))
