"""The server of one process: uvicorn with the service's protocol and application."""

import gc
import socket
from collections.abc import Callable
from importlib.util import find_spec

import uvicorn

from app.api.application import PORT_BESIDE

PROTOCOL = "app.server.protocol:Http1Protocol"
"""An import string, because httptools has no wheels for every system."""

GRACE_SECONDS = 5
"""Seconds that open requests get to end once a shutdown has begun."""


class Server(uvicorn.Server):
    """uvicorn, which calls `echo` with a greeting once it answers."""

    def __init__(self, host: str, greeting: str, *, echo: Callable[[str], None]) -> None:
        super().__init__(
            uvicorn.Config(
                "app.main:create_app",
                factory=True,
                http=PROTOCOL if find_spec("httptools") is not None else "auto",
                ws="none",
                host=host,
                access_log=False,
                log_config=None,
                server_header=False,
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )
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
