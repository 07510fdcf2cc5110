"""The server of one process: uvicorn with the service's protocol and application."""

import asyncio
import gc
import socket
from collections.abc import Callable

import uvicorn

from app.api.application import PORT_BESIDE
from app.server.config import Config

GRACE_SECONDS = 5
"""Seconds that open requests get to end once a shutdown has begun."""


class Server(uvicorn.Server):
    """uvicorn, which calls `echo` with a greeting once it answers."""

    def __init__(self, config: Config, greeting: str, *, echo: Callable[[str], None]) -> None:
        super().__init__(config)
        self._open_connections = config.open_connections
        self._greeting = greeting
        self._echo = echo

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, then print the greeting."""
        await super().startup(sockets=sockets)
        # Imported modules stay for good: no collection needs to look at them again.
        gc.collect()
        gc.freeze()
        self._echo(self._greeting)
        if (port := self.lifespan.state.get(PORT_BESIDE)) is not None:
            self._echo(f"  gRPC           {self.config.host}:{port}")

    async def on_tick(self, counter: int) -> bool:
        """Close connections on which requests come too slowly, every second; uvicorn calls this every tenth of one."""
        if counter % 10 == 0:
            self._open_connections.sweep(asyncio.get_running_loop().time())
        return await super().on_tick(counter)
