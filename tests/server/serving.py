"""An application behind the service's HTTP server, on loopback."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.server import Config, ConnectionLimits, Server

GET = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
WITHIN = 10.0

Connect: TypeAlias = Callable[[], socket.socket]


def start(length: int | None = None) -> Message:
    headers = [] if length is None else [(b"content-length", str(length).encode())]
    return {"type": "http.response.start", "status": 200, "headers": headers}


def body(content: bytes, *, more: bool = False) -> Message:
    return {"type": "http.response.body", "body": content, "more_body": more}


@contextmanager
def served(
    app: ASGIApp, failures: list[str] | None = None, limits: ConnectionLimits | None = None
) -> Iterator[Connect]:
    """The connection to an application; `failures` gets the errors of the event loop's callbacks."""

    async def watched(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            raise NotImplementedError
        if failures is not None:
            asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(str(context)))
        await app(scope, receive, send)

    with started(Config(watched, limits or ConnectionLimits())) as (_, connect):
        yield connect


@contextmanager
def started(config: Config) -> Iterator[tuple[Server, Connect]]:
    """A server in a thread, and how to connect to it; it has stopped at the end."""
    server = Server(config, "", echo=lambda _: None)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            until = monotonic() + WITHIN
            while not server.started:
                assert monotonic() < until
                sleep(0.01)
            address = listener.getsockname()
            yield server, lambda: socket.create_connection(address, timeout=WITHIN)
        finally:
            server.should_exit = True
            thread.join(WITHIN)
            assert not thread.is_alive()


def exactly(client: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        piece = client.recv(size - len(found))
        assert piece, found
        found += piece
    return found


def response_of(client: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """The next response: status, headers, body."""
    found = b""
    while not found.endswith(b"\r\n\r\n"):
        found += exactly(client, 1)
    status, *lines = found.decode().rstrip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    content = exactly(client, int(headers["content-length"]))
    return int(status.split()[1]), headers, content
