"""The server of one process: uvicorn with the service's protocol and application, and the limits of its connections."""

import asyncio
import gc
import signal
import socket
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from types import FrameType
from typing import Protocol, runtime_checkable

import structlog
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app.http.health import PORT_BESIDE, SHUTDOWN, Shutdown

MAX_CONNECTIONS = 4096
MAX_BACKLOG = 512

DESIRED_DESCRIPTORS = 16_384
"""The number of file descriptors that a process requests: for connections, uploads on disk, the database, and a
reserve."""


@dataclass(frozen=True)
class ConnectionLimits:
    """Limits of connections: size and time of requests, and the number of connections."""

    max_header_bytes: int = 32 * 1024
    """The maximum size of request line and header fields together, and of trailers and chunk extensions together, in
    bytes."""

    max_header_fields: int = 100
    """The maximum number of header fields of a request, and of trailer fields."""

    header_timeout_seconds: float = 10.0
    """The maximum time from a request's first byte, or from the connection, to the end of the header section."""

    min_body_bytes_per_second: float = 1000.0
    """The minimum rate of a body, over each `BODY_WINDOW_SECONDS` in which the server was ready to read."""

    max_connections: int = MAX_CONNECTIONS
    """The maximum number of open connections; beyond it, the one that has waited longest for a request is closed."""


BODY_WINDOW_SECONDS = 10.0
"""The length of the window over which the rate of a body is measured."""


def connections_within(descriptors: int) -> int:
    """Return the number of connections that a process with so many file descriptors can hold.

    A quarter is reserved for uploads on disk, the database, the event loop, and connections that the kernel has
    accepted and the process has not.
    """
    return max(1, min(MAX_CONNECTIONS, descriptors * 3 // 4))


def backlog_within(descriptors: int) -> int:
    """Return the length of the listening socket's queue, which must fit into the reserved descriptors."""
    return max(1, min(MAX_BACKLOG, descriptors // 8))


def raise_descriptor_limit() -> int:
    """Raise the soft limit of file descriptors as far as the hard limit allows, and return it."""
    if sys.platform == "win32":
        return DESIRED_DESCRIPTORS
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    required = DESIRED_DESCRIPTORS if hard == unlimited else min(hard, DESIRED_DESCRIPTORS)
    if soft != unlimited and soft < required:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (required, hard))
        except (OSError, ValueError):  # the system has a maximum below the hard limit
            return soft
        soft = required
    return DESIRED_DESCRIPTORS if soft == unlimited else soft


class Connection(Protocol):
    """The interface of a connection in the table of connections."""

    received: int
    """The number of bytes received since the current window of the body's rate began."""

    def is_reading(self) -> bool:
        """Return whether the request waits for its client: reading is not paused, and no response has begun."""

    def is_closable(self) -> bool:
        """Return whether the connection can be closed without loss: no open request, and no response being sent."""

    def head_timed_out(self) -> None:
        """Close the connection because the header section took too long."""

    def body_too_slow(self) -> None:
        """Close the connection because the body is too slow."""

    def evict(self) -> None:
        """Close the connection because there are too many."""


class Connections:
    """The waiting connections, each with the time since when, in seconds of a monotonic clock.

    Both tables are ordered by that time: a check looks only at the connections that are due, and the one that has
    waited longest is first.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.is_draining = False
        """Whether the server is stopping: the next response of each connection is its last."""
        self._limits = limits
        self._awaiting_head: OrderedDict[Connection, float] = OrderedDict()
        self._awaiting_body: OrderedDict[Connection, float] = OrderedDict()

    def await_head(self, connection: Connection, now: float) -> None:
        """Start the time limit of a header section."""
        self._awaiting_head[connection] = now

    def await_body(self, connection: Connection, now: float) -> None:
        """Start to measure the rate of a body."""
        self._awaiting_body[connection] = now

    def forget(self, connection: Connection) -> None:
        """Remove a connection from both tables."""
        self._awaiting_head.pop(connection, None)
        self._awaiting_body.pop(connection, None)

    def evict_one(self) -> bool:
        """Close the connection that has been without a complete header section for longest; return whether there was
        one."""
        oldest = next((one for one in self._awaiting_head if one.is_closable()), None)
        if oldest is None:
            return False
        oldest.evict()
        return True

    def close_slow(self, now: float) -> None:
        """Close the connections whose header sections or bodies are too slow."""
        for connection in _due(self._awaiting_head, now - self._limits.header_timeout_seconds):
            connection.head_timed_out()
        minimum = self._limits.min_body_bytes_per_second * BODY_WINDOW_SECONDS
        for connection in _due(self._awaiting_body, now - BODY_WINDOW_SECONDS):
            if connection.is_reading() and connection.received < minimum:
                connection.body_too_slow()
            else:
                connection.received = 0
                self._awaiting_body[connection] = now


def _due(waiting: OrderedDict[Connection, float], deadline: float) -> list[Connection]:
    """Remove and return the connections that have waited since `deadline` or longer."""
    due: list[Connection] = []
    while waiting:
        connection, since = next(iter(waiting.items()))
        if since > deadline:
            break
        del waiting[connection]
        due.append(connection)
    return due


PROTOCOL = "app.server.protocol:Http1Protocol"
"""An import string, because httptools has no wheels for every system, and uvicorn's own h11 protocol has no limits."""

CLOSING_SECONDS = 1
"""The seconds at the end of the grace period in which idle connections are closed, after last requests were served."""


_FORWARDED = frozenset({b"x-forwarded-for", b"x-forwarded-proto"})


class ForwardedHeaders:
    """Gives requests the client and the scheme that a known proxy forwards, by uvicorn's middleware; only requests with
    such headers pass through it, since it parses the client's address."""

    def __init__(self, app: ASGIApp, known_proxies: list[str] | str) -> None:
        self._app = app
        self._forwarded: ASGIApp = ProxyHeadersMiddleware(app, known_proxies)  # type: ignore[arg-type, assignment]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        for name, _ in scope.get("headers", ()):
            if name in _FORWARDED:
                await self._forwarded(scope, receive, send)
                return
        await self._app(scope, receive, send)


class Config(uvicorn.Config):
    """The configuration of one server, with the table of its connections, which the protocol uses."""

    def __init__(
        self,
        app: ASGIApp | str,
        limits: ConnectionLimits,
        *,
        host: str = "127.0.0.1",
        backlog: int = 2048,
        factory: bool = False,
        drain_seconds: float = 0.0,
        grace_seconds: int = 5,
    ) -> None:
        super().__init__(
            app,
            factory=factory,
            http=PROTOCOL if find_spec("httptools") is not None else "auto",
            ws="none",
            host=host,
            backlog=backlog,
            access_log=False,
            proxy_headers=False,  # `load` has its own middleware for them
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=CLOSING_SECONDS,
        )
        self.limits = limits
        self.drain_seconds = drain_seconds
        self.grace_seconds = grace_seconds
        self.open_connections = Connections(limits)

    def load(self) -> None:
        """Load the application, and have it read the headers of known proxies."""
        super().load()
        self.loaded_app = ForwardedHeaders(self.loaded_app, self.forwarded_allow_ips)


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
