"""The handler of the signals that stop a process, whichever server runs the application."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def on_shutdown(act: Callable[[], None]) -> Iterator[None]:
    """Have the running loop `act` at the first signal to end, beside what the server does about it.

    A server waits for all requests before it tells the application that it ends. Where it has no handler of its own, or
    the loop is not the process's main thread's, nothing is done: who stops it says so by other means.
    """
    if current_thread() is not main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    theirs = {number: handler for number in SIGNALS if callable(handler := signal.getsignal(number))}

    def handle(number: int, frame: FrameType | None) -> None:
        # Not here: what was interrupted may hold the very lock that this needs.
        loop.call_soon_threadsafe(act)
        theirs[signal.Signals(number)](number, frame)

    for number in theirs:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in theirs.items():
            if signal.getsignal(number) is handle:
                signal.signal(number, handler)
