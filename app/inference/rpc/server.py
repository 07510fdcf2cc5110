"""gRPC beside HTTP, on the same event loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc

from app.http.authentication import Key
from app.http.dependencies import Services
from app.http.shutdown import Shutdown
from app.inference.rpc.service import Service

MAX_CONNECTIONS = 200
"""Open connections; further ones are closed. A channel needs one for all its calls."""

MAX_STREAMS = 100
"""Calls at a time on one connection; clients queue further ones."""

MAX_CALLS = 1000
"""Calls at a time over all connections; further ones are RESOURCE_EXHAUSTED."""

HANDSHAKE_SECONDS = 10
"""Seconds that a client may take for the HTTP/2 preface and its settings."""

IDLE_SECONDS = 60
"""Seconds after which a connection without calls is closed; channels open a new one when they need it."""

KEEPALIVE_SECONDS = 60
KEEPALIVE_TIMEOUT_SECONDS = 20
"""Seconds between pings of a connection, and until it is closed without a reply."""

MIN_PING_SECONDS = 10
"""Seconds between pings of clients without data; faster ones are disconnected (ENHANCE_YOUR_CALM)."""


@dataclass(frozen=True)
class RpcRules:
    """Where to listen (port 0: any that is free), whom to let in, how many bytes a message and the metadata of a call
    may have, and whether to log."""

    host: str
    port: int
    api_key: str | None
    max_bytes: int
    log: bool
    max_metadata_bytes: int = 32 * 1024
    grace_seconds: float = 5.0
    """Seconds that open calls have to end once the server has stopped listening."""


class CantListen(OSError):
    """The port is taken, or not ours to take."""


@asynccontextmanager
async def serving(services: Services, rules: RpcRules) -> AsyncIterator[int]:
    """Answer calls until listeners close, on the port that is yielded; raises CantListen."""
    shutdown = services[Shutdown]
    service = Service(services, Key(rules.api_key), log_requests=rules.log)
    server = grpc.aio.server(
        handlers=[service.handlers()],
        options=_options(rules),
        maximum_concurrent_rpcs=MAX_CALLS,
    )
    host = f"[{rules.host}]" if ":" in rules.host else rules.host
    try:
        port = server.add_insecure_port(f"{host}:{rules.port}")
    except RuntimeError as error:
        raise CantListen(f"gRPC can't listen on {host}:{rules.port}.") from error
    await server.start()
    stop = asyncio.create_task(_stop_when_closing(server, shutdown, rules.grace_seconds))
    try:
        yield port
    finally:
        shutdown.close()
        await stop


async def _stop_when_closing(server: grpc.aio.Server, shutdown: Shutdown, grace_seconds: float) -> None:
    """Stop while the HTTP server does: each open call has the grace period once, and clients connect elsewhere."""
    await shutdown.is_closing.wait()
    await server.stop(grace_seconds)


def _options(rules: RpcRules) -> list[tuple[str, int]]:
    """Return the channel arguments of gRPC's core (grpc/impl/channel_arg_names.h)."""
    return [
        ("grpc.max_receive_message_length", rules.max_bytes),
        ("grpc.max_send_message_length", -1),
        # Between the soft and the absolute limit gRPC refuses at random: equal, they are one exact limit.
        ("grpc.max_metadata_size", rules.max_metadata_bytes),
        ("grpc.absolute_max_metadata_size", rules.max_metadata_bytes),
        ("grpc.max_concurrent_streams", MAX_STREAMS),
        ("grpc.max_allowed_incoming_connections", MAX_CONNECTIONS),
        ("grpc.server_handshake_timeout_ms", 1000 * HANDSHAKE_SECONDS),
        ("grpc.max_connection_idle_ms", 1000 * IDLE_SECONDS),
        ("grpc.keepalive_time_ms", 1000 * KEEPALIVE_SECONDS),
        ("grpc.keepalive_timeout_ms", 1000 * KEEPALIVE_TIMEOUT_SECONDS),
        ("grpc.http2.min_ping_interval_without_data_ms", 1000 * MIN_PING_SECONDS),
        ("grpc.so_reuseport", 0),
    ]
