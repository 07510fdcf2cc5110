"""`relevance serve` and `relevance api`: uvicorn on a socket of our own, with or without a worker."""

import os
import signal
import socket
import sys
from contextlib import ExitStack
from importlib.util import find_spec
from tempfile import TemporaryFile
from types import FrameType

import structlog
from uvicorn.importer import import_from_string

from app import __version__
from app.cli import worker_process
from app.cli.config import database_in_reach
from app.cli.run_worker import refuse_untraceable
from app.cli.shutdown import MARGIN_SECONDS, Watchdog, end_with_standard_input
from app.cli.worker_process import WorkerProcess
from app.errors import UnavailableError
from app.logs import configure_logging
from app.maintenance import administration
from app.malloc import tune_malloc
from app.server.server import (
    Config,
    ConnectionLimits,
    Server,
    backlog_within,
    connections_within,
    raise_descriptor_limit,
)
from app.settings import Settings
from app.tracing.spans import FLUSH_SECONDS
from relevance_bayes.cli.console import echo, refuse

APPLICATION = "app.main:create_app"

log = structlog.stdlib.get_logger("app.server")


def import_application() -> None:
    """Import what uvicorn would import later."""
    import_from_string(APPLICATION)


def serve(settings: Settings, *, with_worker: bool, until_eof: bool) -> None:
    """Serve HTTP until Ctrl-C or SIGTERM; with a worker, migrate a SQLite file first. Raises typer.Exit."""
    _refuse_unusable(settings)
    tune_malloc()
    descriptors = raise_descriptor_limit()
    configure_logging(settings.log_level)
    flush_seconds = FLUSH_SECONDS if settings.tracing else 0.0
    watchdog = Watchdog(settings.drain_seconds + settings.grace_seconds + flush_seconds + MARGIN_SECONDS)
    _stop_on_signals(watchdog, until_eof=until_eof)
    config = _config(settings, descriptors)
    try:
        with ExitStack() as stack:
            stack.callback(watchdog.restart, MARGIN_SECONDS)
            listener = stack.enter_context(_listen(settings.host, settings.port, "RELEVANCE_PORT", config.backlog))
            if settings.grpc_port is not None:
                _listen(settings.host, settings.grpc_port, "RELEVANCE_GRPC_PORT", 1).close()  # gRPC binds it itself
            if with_worker:
                if settings.url.get_backend_name() == "sqlite":
                    with database_in_reach(settings):
                        administration.migrate(settings)
                stack.enter_context(WorkerProcess())
                stack.callback(watchdog.restart, worker_process.GRACE_SECONDS + MARGIN_SECONDS)
            greet = _greets(until_eof=until_eof)
            greeting = _greeting(settings, listener, with_worker=with_worker) if greet else ""
            given = settings.given()
            log.info("starting", release=__version__, url=_url(settings, listener), settings=given)
            Server(config, greeting, echo=echo if greet else _silent, on_signal=watchdog.arm).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    log.info("stopped", release=__version__)
    if _greets(until_eof=until_eof):
        echo("Stopped.")


def _greets(*, until_eof: bool) -> bool:
    """Return whether somebody reads the greeting: a person at a terminal, or the program that started this process.

    Elsewhere standard output and the log end in the same file, which so has lines of JSON alone.
    """
    return until_eof or sys.stdout.isatty()


def _silent(_text: str) -> None:
    """Print nothing."""


def _refuse_unusable(settings: Settings) -> None:
    with database_in_reach(settings):
        pass  # its URL is checked
    if settings.grpc_port is not None and None in map(find_spec, ("grpc", "hpack", "hyperframe")):
        refuse(
            "RELEVANCE_GRPC_PORT needs the Python packages `grpcio`, `protobuf`, `hpack` and `hyperframe`, "
            "not all of which are installed.\n"
            "The container image includes them; in a checkout of the source "
            "`pip install ./library '.[grpc]'` installs them."
        )

    if settings.jwt_issuer is not None and find_spec("jwt") is None:
        refuse(
            "RELEVANCE_JWT_ISSUER needs the Python package `pyjwt` with `cryptography`, which is not installed.\n"
            "The container image includes it; in a checkout of the source `pip install ./library '.[jwt]'` installs it."
        )

    refuse_untraceable(settings)

    if settings.metrics_directory is not None:
        if find_spec("fcntl") is None:
            refuse("RELEVANCE_METRICS_DIRECTORY needs locks of files, which this system does not have.")
        try:
            settings.metrics_directory.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=settings.metrics_directory).close()
        except OSError as unusable:
            refuse(f"RELEVANCE_METRICS_DIRECTORY: can't write {settings.metrics_directory}: {unusable.strerror}.")


def _stop_on_signals(watchdog: Watchdog, *, until_eof: bool) -> None:
    """Handle termination signals until the server does, and after it."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        watchdog.arm()
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    if until_eof:  # no load balancer needs time to use other servers
        end_with_standard_input(lambda: os.kill(os.getpid(), signal.SIGINT))


def _config(settings: Settings, descriptors: int) -> Config:
    return Config(
        APPLICATION,
        _limits(settings, descriptors),
        host=settings.host,
        backlog=backlog_within(descriptors),
        factory=True,
        drain_seconds=settings.drain_seconds,
        grace_seconds=settings.grace_seconds,
    )


def _limits(settings: Settings, descriptors: int) -> ConnectionLimits:
    return ConnectionLimits(
        max_header_bytes=settings.max_header_bytes,
        max_header_fields=settings.max_header_fields,
        header_timeout_seconds=settings.header_timeout_seconds,
        min_body_bytes_per_second=settings.min_body_bytes_per_second,
        max_connections=settings.max_connections or connections_within(descriptors),
    )


def _listen(host: str, port: int, setting: str, backlog: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=backlog)
    except OSError as taken:
        refuse(f"Can't listen on {host}:{port}: {taken.strerror}. {setting} sets the port.")


def _url(settings: Settings, listener: socket.socket) -> str:
    name = "localhost" if settings.host in {"0.0.0.0", "::"} else settings.host
    host = f"[{name}]" if ":" in name else name
    return f"http://{host}:{listener.getsockname()[1]}"


def _keys(settings: Settings) -> str:
    """Return whether requests need an API key, by the settings and by the keys in the database."""
    if settings.needs_keys:
        return "needed"
    try:
        with administration.api_keys(settings) as keys:
            return "needed" if keys.are_there() else "needed once there is one"
    except UnavailableError:
        return "unknown while the database can't be reached"


def _greeting(settings: Settings, listener: socket.socket, *, with_worker: bool) -> str:
    url = _url(settings, listener)
    lines = [
        f"Relevance {__version__} is at {url}",
        f"  documentation  {url}/docs",
        f"  database       {settings.shown_url}",
        f"  API keys       {_keys(settings)}: `relevance keys --help`",
        "  worker         a process of its own" if with_worker else "  worker         none",
        "Ctrl-C stops it.",
    ]
    return "\n".join(lines)
