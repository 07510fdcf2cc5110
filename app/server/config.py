"""uvicorn's configuration with the limits of connections."""

from importlib.util import find_spec

import uvicorn
from starlette.types import ASGIApp

from app.server.connections import Connections
from app.server.limits import ConnectionLimits

PROTOCOL = "app.server.protocol:Http1Protocol"
"""An import string, because httptools has no wheels for every system; uvicorn's own h11 protocol has no such limits."""

CLOSING_SECONDS = 1
"""Seconds of the grace period that are left when idle connections are closed: for requests that came just before."""


class Config(uvicorn.Config):
    """The settings of one server, and the table of its connections, which the protocol finds here."""

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
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=CLOSING_SECONDS,
        )
        self.limits = limits
        self.drain_seconds = drain_seconds
        self.grace_seconds = grace_seconds
        self.open_connections = Connections(limits)
