"""The server of one process: uvicorn with the service's protocol and application."""

import asyncio
import gc
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import Protocol, runtime_checkable

import structlog
import uvicorn

from app.http.shutdown import PORT_BESIDE, SHUTDOWN, Shutdown
from app.server.config import CLOSING_SECONDS, Config

TICK_SECONDS = 0.1

log = structlog.stdlib.get_logger("app.server")


@runtime_checkable
class DrainableConnection(Protocol):
    """A connection that can announce in its next response that it will be closed."""

    def announce_close(self) -> None:
        """Have the response to the newest request send `Connection: close`, unless it has begun."""


class Server(uvicorn.Server):
    """uvicorn, which prints a greeting by `echo` once it listens, and shuts down in three steps.

    1. Drain: for `drain_seconds` it serves requests with `Connection: close`, so that clients and load balancers use
    other servers. After SIGINT (Ctrl-C) this ends as soon as no connection is open.
    2. It stops listening, and open requests have until `CLOSING_SECONDS` before the end of `grace_seconds` to complete.
    3. Idle connections are closed. Open requests are cancelled at the end of `grace_seconds`.

    `on_signal` is called in the handler of each termination signal. A second SIGINT ends all waiting.
    """

    def __init__(
        self,
        config: Config,
        greeting: str,
        *,
        echo: Callable[[str], None],
        on_signal: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(config)
        self._open_connections = config.open_connections
        self._drain_seconds = config.drain_seconds
        self._grace_seconds = config.grace_seconds
        self._greeting = greeting
        self._echo = echo
        self._on_signal = on_signal
        self._is_interrupted = False
        self._application: Shutdown | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, then print the greeting."""
        await super().startup(sockets=sockets)
        self._application = self.lifespan.state.get(SHUTDOWN)
        if self._application is not None:
            self._application.drains = True
        # What the application has made by now is never freed: exclude it from garbage collection.
        gc.collect()
        gc.freeze()
        self._echo(self._greeting)
        if (port := self.lifespan.state.get(PORT_BESIDE)) is not None:
            self._echo(f"  gRPC           {self.config.host}:{port}")

    async def on_tick(self, counter: int) -> bool:
        """Close connections with slow requests, every second; uvicorn calls this every tenth of one."""
        if counter % 10 == 0:
            self._open_connections.close_slow(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to shut down; called by the signal handler."""
        self._is_interrupted = self._is_interrupted or sig == signal.SIGINT
        super().handle_exit(sig, frame)
        self._on_signal()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down in three steps."""
        connections, requests = len(self.server_state.connections), len(self.server_state.tasks)
        log.info("stopping", drain_seconds=self._drain_seconds, connections=connections, requests=requests)
        self._open_connections.is_draining = True
        for connection in list(self.server_state.connections):
            if isinstance(connection, DrainableConnection):
                connection.announce_close()
        if self._application is not None and self._is_interrupted:
            self._application.end_waits()
        await self._wait(self._drain_seconds, lambda: self._is_interrupted and not self.server_state.connections)
        if self._application is not None:
            self._application.close()
        for server in self.servers:
            server.close()
        await self._wait(self._grace_seconds - CLOSING_SECONDS, lambda: not self.server_state.tasks)
        await super().shutdown(sockets)

    async def _wait(self, seconds: float, is_done: Callable[[], bool]) -> None:
        """Wait until `is_done`, for at most `seconds`; requests are served meanwhile."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        counter = 0
        while loop.time() < end and not self.force_exit and not is_done():
            await asyncio.sleep(TICK_SECONDS)
            counter += 1
            await self.on_tick(counter)
