"""uvicorn's configuration with the limits of connections."""

from importlib.util import find_spec

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app.server.connections import Connections
from app.server.limits import ConnectionLimits

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
