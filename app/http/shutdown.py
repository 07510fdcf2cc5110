"""Graceful shutdown of the process that runs the application."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import current_thread, main_thread
from types import FrameType
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from app.http.dependencies import services_of

PORT_BESIDE = "port_beside"
"""The key of the lifespan's state for the port of the server beside the application; None without one."""

SHUTDOWN = "shutdown"
"""The key of the lifespan's state for the application's `Shutdown`."""


@dataclass
class Shutdown:
    """A shutdown in two steps: it is requested, which readiness probes report, then the listeners close.

    A server that accepts connections between the two sets `drains` and calls `close` itself. Otherwise `request`
    closes.
    """

    end_waits: Callable[[], None]
    """Ends the responses that wait: long polls and event streams."""

    drains: bool = False
    is_requested: bool = False
    is_closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when listeners close."""

    def request(self) -> None:
        """Begin to shut down. Idempotent; called on the event loop, as is `close`."""
        self.is_requested = True
        if not self.drains:
            self.close()

    def close(self) -> None:
        """Close the other listeners and end waiting responses. Idempotent."""
        self.is_requested = True
        self.is_closing.set()
        self.end_waits()


async def _shutdown(request: Request) -> Shutdown:
    return services_of(request)[Shutdown]


ShutdownDependency = Annotated[Shutdown, Depends(_shutdown)]


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
