"""The stop of the process that runs the application."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from app.http.dependencies import services_of


@dataclass
class Shutdown:
    """A stop in two steps: it is requested, which probes of readiness report; then the listeners close.

    A server that goes on listening between the two sets `drains` and calls `close` itself. Otherwise both are one.
    """

    end_waits: Callable[[], None]
    """Ends the responses that wait for something to happen: long polls and streams of events."""

    drains: bool = False
    is_requested: bool = False
    is_closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when listeners close."""

    def request(self) -> None:
        """Begin to stop; may be called again. Called on the event loop, as is `close`."""
        self.is_requested = True
        if not self.drains:
            self.close()

    def close(self) -> None:
        """Close listeners beside HTTP's, and end what waits; may be called again."""
        self.is_requested = True
        self.is_closing.set()
        self.end_waits()


async def _shutdown(request: Request) -> Shutdown:
    return services_of(request)[Shutdown]


ShutdownDependency = Annotated[Shutdown, Depends(_shutdown)]
