"""The gRPC server, on the event loop of the HTTP server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc

from app.http.authentication import Authenticator
from app.http.dependencies import Services
from app.http.hosts import Hosts
from app.http.rate_limits import RateLimits, Unlimited
from app.http.shutdown import Shutdown
from app.inference.rpc.relay import LOOPBACK, Relay
from app.inference.rpc.service import Service
from app.tracing.spans import Tracer

MAX_CONNECTIONS = 200
"""The maximum number of open connections; further ones are closed. A channel needs one for all its calls."""

MAX_RELAYED = MAX_CONNECTIONS // 3
"""The maximum number of those that are relayed, each of which takes three file descriptors."""

MAX_STREAMS = 100
"""The maximum number of concurrent calls on one connection; clients queue further ones."""

MAX_CALLS = 1000
"""The maximum number of concurrent calls over all connections; further ones are RESOURCE_EXHAUSTED."""

HANDSHAKE_SECONDS = 10
"""The maximum time for the client's HTTP/2 preface and settings."""

IDLE_SECONDS = 60
"""The time after which a connection without calls is closed; channels reconnect when necessary."""

KEEPALIVE_SECONDS = 60
KEEPALIVE_TIMEOUT_SECONDS = 20
"""The time between keepalive pings, and the time to wait for a reply before the connection is closed."""

MIN_PING_SECONDS = 10
"""The minimum time between pings of clients without data; faster ones are disconnected (ENHANCE_YOUR_CALM)."""


@dataclass(frozen=True)
class RpcRules:
    """The address to listen on (port 0: any free one), who authenticates calls, the maximum sizes of a message and
    of a call's metadata, and whether calls are logged."""

    host: str
    port: int
    authenticator: Authenticator
    max_bytes: int
    log: bool
    max_metadata_bytes: int = 32 * 1024
    grace_seconds: float = 5.0
    """The time in which open calls must complete after the server has stopped listening."""
    rate_limits: RateLimits = field(default_factory=Unlimited)
    """The limited rates of owners."""
    tracer: Tracer | None = None
    """The tracer of calls; None: nothing is traced."""
    hosts: Hosts = field(default_factory=Hosts)
    """The hosts that calls may name while they need no key."""


class CantListen(OSError):
    """Raised where the port is in use or not permitted."""


@asynccontextmanager
async def serving(services: Services, rules: RpcRules) -> AsyncIterator[int]:
    """Serve calls until listeners close, on the port that is yielded; raises CantListen."""
    shutdown = services[Shutdown]
    relay = None
    if not rules.authenticator.needs_keys:
        relay = Relay(
            rules.hosts,
            max_block_bytes=2 * rules.max_metadata_bytes,
            max_connections=MAX_RELAYED,
            max_stalled_seconds=KEEPALIVE_SECONDS + KEEPALIVE_TIMEOUT_SECONDS,
        )
    service = Service(
        services,
        rules.authenticator,
        rules.rate_limits,
        log_requests=rules.log,
        tracer=rules.tracer,
        hosts=rules.hosts,
        relay=relay,
    )
    server = grpc.aio.server(
        handlers=[service.handlers()],
        options=_options(rules),
        maximum_concurrent_rpcs=MAX_CALLS,
    )
    host = f"[{rules.host}]" if ":" in rules.host else rules.host
    try:
        port = server.add_insecure_port(f"{host}:{rules.port}" if relay is None else f"{LOOPBACK}:0")
        await server.start()
        if relay is not None:
            port = await relay.listen(rules.host, rules.port, to=port)
    except (RuntimeError, OSError) as error:
        await server.stop(None)
        raise CantListen(f"gRPC can't listen on {host}:{rules.port}.") from error
    stop = asyncio.create_task(_stop_when_closing(server, relay, shutdown, rules.grace_seconds))
    try:
        yield port
    finally:
        shutdown.close()
        await stop


async def _stop_when_closing(
    server: grpc.aio.Server, relay: Relay | None, shutdown: Shutdown, grace_seconds: float
) -> None:
    """Stop with the HTTP server: open calls have the grace period, and clients reconnect to other servers."""
    await shutdown.is_closing.wait()
    if relay is not None:
        relay.stop_listening()
    await server.stop(grace_seconds)
    if relay is not None:
        await relay.close()


def _options(rules: RpcRules) -> list[tuple[str, int]]:
    """Return the channel arguments of gRPC's core (grpc/impl/channel_arg_names.h)."""
    return [
        ("grpc.max_receive_message_length", rules.max_bytes),
        ("grpc.max_send_message_length", -1),
        # Between the soft and the absolute limit gRPC refuses at random; equal ones are one exact limit.
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
