"""gRPC beside HTTP, on the same event loop."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc

from app.api.dependencies import Parts
from app.api.inferring import Inferring
from app.api.keys import Key
from app.api.rpc.service import Service

GRACE_SECONDS = 5.0
"""How long open calls may go on once the end was asked for."""


@dataclass(frozen=True)
class RpcRules:
    """Where to listen (port 0: any that is free), whom to let in, how large a message may be, and whether to log."""

    host: str
    port: int
    api_key: str | None
    most_bytes: int
    log: bool


class CantListen(OSError):
    """The port is taken, or not ours to take."""


@asynccontextmanager
async def serving(parts: Parts, inferring: Inferring, rules: RpcRules) -> AsyncIterator[int]:
    """Answer calls while it is open, on the port that is yielded; raises CantListen."""
    server = grpc.aio.server(
        handlers=[Service(parts, inferring, Key(rules.api_key), log_requests=rules.log).handlers()],
        options=[
            ("grpc.max_receive_message_length", rules.most_bytes),
            ("grpc.max_send_message_length", -1),
            ("grpc.so_reuseport", 0),
        ],
    )
    host = f"[{rules.host}]" if ":" in rules.host else rules.host
    try:
        port = server.add_insecure_port(f"{host}:{rules.port}")
    except RuntimeError as error:
        raise CantListen(f"gRPC can't listen on {host}:{rules.port}.") from error
    await server.start()
    try:
        yield port
    finally:
        await server.stop(GRACE_SECONDS)
