"""Graceful shutdown of the process that runs the application."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from app.http.dependencies import services_of


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
