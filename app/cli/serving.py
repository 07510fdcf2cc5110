"""`relevance serve` and `relevance api`: uvicorn on a socket of our own, with or without a worker beside it."""

import gc
import os
import signal
import socket
from contextlib import ExitStack
from importlib.util import find_spec
from types import FrameType

import uvicorn

from app import __version__, bootstrap
from app.api.application import PORT_BESIDE
from app.cli.companion import Companion
from app.cli.ending import end_with_standard_input
from app.cli.heaps import settle_heaps
from app.cli.saying import database_in_reach, refuse, say
from app.logs import configure_logging
from app.settings import Settings

ONE_WRITE = "app.cli.one_write:OneWriteProtocol"
"""By its name, since it needs a package that is not made for every system."""

GRACE_SECONDS = 5
"""How long open requests may go on once the end was asked for."""


def serve(settings: Settings, *, with_worker: bool, until_eof: bool) -> None:
    """Answer HTTP until Ctrl-C or SIGTERM; with a worker, a SQLite file is migrated first. Raises typer.Exit."""
    if settings.exposed_without_key:
        refuse(
            f"Listening on {settings.host} would open the service to the network with nobody asked for a key.\n"
            "Set RELEVANCE_API_KEY (or RELEVANCE_API_KEY_FILE), or RELEVANCE_INSECURE=1 if that is what you want."
        )
    if settings.grpc_port is not None and find_spec("grpc") is None:
        refuse("gRPC is not spoken here, since the package `grpcio` is not installed: `pip install relevance[grpc]`.")
    settle_heaps()
    configure_logging(settings.log_level)
    signal.signal(signal.SIGTERM, _end)
    if until_eof:
        end_with_standard_input(lambda: os.kill(os.getpid(), signal.SIGTERM))
    try:
        with ExitStack() as stack:
            listener = stack.enter_context(_listen(settings.host, settings.port, "RELEVANCE_PORT"))
            if settings.grpc_port is not None:
                _listen(settings.host, settings.grpc_port, "RELEVANCE_GRPC_PORT").close()  # gRPC binds it by itself
            if with_worker:
                if settings.url.get_backend_name() == "sqlite":
                    with database_in_reach():
                        bootstrap.migrate(settings)
                stack.enter_context(Companion())
            _Server(settings, _greeting(settings, listener, with_worker=with_worker)).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    say("Stopped.")


class _Server(uvicorn.Server):
    """uvicorn, saying where it is once it really answers."""

    def __init__(self, settings: Settings, greeting: str) -> None:
        super().__init__(
            uvicorn.Config(
                "app.main:create_app",
                factory=True,
                http=ONE_WRITE if find_spec("httptools") is not None else "auto",
                ws="none",
                host=settings.host,
                access_log=False,
                log_config=None,
                server_header=False,
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )
        self.greeting = greeting

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, then say so."""
        await super().startup(sockets=sockets)
        # What was imported stays for good: no collection needs to look at it ever again.
        gc.collect()
        gc.freeze()
        say(self.greeting)
        if (port := self.lifespan.state.get(PORT_BESIDE)) is not None:
            say(f"  gRPC           {self.config.host}:{port}")


def _end(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _listen(host: str, port: int, setting: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as taken:
        refuse(f"Can't listen on {host}:{port}: {taken.strerror}. {setting} chooses another port.")


def _greeting(settings: Settings, listener: socket.socket, *, with_worker: bool) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{listener.getsockname()[1]}"
    lines = [
        f"Relevance {__version__} is at {url}",
        f"  documentation  {url}/docs",
        f"  database       {settings.url.render_as_string(hide_password=True)}",
        "  worker         beside it, in a process of its own" if with_worker else "  worker         none here",
        "Ctrl-C stops it.",
    ]
    return "\n".join(lines)
