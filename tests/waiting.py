"""Waiting for what other threads and processes do, with an end."""

import time
from collections.abc import Callable


def until(happened: Callable[[], bool], *, seconds: float = 10.0, pause: float = 0.02) -> None:
    """Return as soon as it has happened; an AssertionError when it has not after so many seconds."""
    give_up = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < give_up, f"did not happen within {seconds} s"
        time.sleep(pause)
