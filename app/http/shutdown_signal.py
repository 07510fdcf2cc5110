"""The handler of termination signals, for any ASGI server."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def on_shutdown(act: Callable[[], None]) -> Iterator[None]:
    """Have the running loop call `act` at the first termination signal, in addition to the server's own handler.

    A server waits for all requests before it sends the application the shutdown event, which is too late. Nothing is
    installed where the server has no handler, or the loop is not in the process's main thread.
    """
    if current_thread() is not main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    theirs = {number: handler for number in SIGNALS if callable(handler := signal.getsignal(number))}

    def handle(number: int, frame: FrameType | None) -> None:
        # Not called here: the interrupted code may hold the lock that `act` needs.
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
