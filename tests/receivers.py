"""Receivers of webhooks on real sockets, with a behaviour by connection."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser
from threading import Event

Behaviour = Callable[[socket.socket, Event], None]
"""The behaviour on a connection once its request was read; the event is set when the receiver is to end."""


@dataclass(frozen=True)
class Received:
    """One request."""

    line: str
    headers: Message
    body: bytes


@dataclass
class Receiver:
    """Listens on a port of its own; `behaviours` are those of its connections, the last one's of all others."""

    behaviours: Sequence[Behaviour]
    tls: ssl.SSLContext | None = None
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    ending: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?key=a%20b"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.ending.set()
        with suppress(OSError), socket.socket() as last:  # looks nothing up, whatever a test has made of that
            last.connect(("127.0.0.1", self.port))
        self._thread.join()
        self._listening.close()

    def _serve(self) -> None:
        threads: list[threading.Thread] = []
        while not self.ending.is_set():
            connection, _ = self._listening.accept()
            number, self.connections = self.connections, self.connections + 1
            behave = self.behaviours[min(number, len(self.behaviours) - 1)]
            threads.append(threading.Thread(target=self._response, args=(connection, behave), daemon=True))
            threads[-1].start()
        for thread in threads:
            thread.join()

    def _response(self, connection: socket.socket, behave: Behaviour) -> None:
        with suppress(OSError), connection:
            if self.tls is not None:
                connection = self.tls.wrap_socket(connection, server_side=True)
            with connection:
                connection.settimeout(20)
                request = _request(connection)
                if request is not None:
                    self.received.append(request)
                    behave(connection, self.ending)


@contextmanager
def receiving(*behaviours: Behaviour, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """A receiver at work."""
    receiver = Receiver(behaviours, tls)
    receiver.start()
    try:
        yield receiver
    finally:
        receiver.stop()


def responses(status: int, *headers: str, body: bytes = b"", before: bytes = b"") -> Behaviour:
    """An answer like that of any server."""
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *headers, "", ""]

    def behave(connection: socket.socket, _ending: Event) -> None:
        connection.sendall(before + "\r\n".join(lines).encode() + body)

    return behave


def sends(content: bytes) -> Behaviour:
    """These bytes, and no more."""

    def behave(connection: socket.socket, _ending: Event) -> None:
        connection.sendall(content)

    return behave


def hangs(connection: socket.socket, ending: Event) -> None:
    """Sends nothing, and keeps the connection."""
    ending.wait(30)


def sends_slowly(content: bytes, *, pause: float, endless: bytes = b"") -> Behaviour:
    """Byte by byte, and then so for ever."""

    def behave(connection: socket.socket, ending: Event) -> None:
        for byte in content:
            connection.sendall(bytes((byte,)))
            if ending.wait(pause):
                return
        while endless and not ending.wait(pause):
            connection.sendall(endless)

    return behave


def floods(connection: socket.socket, ending: Event) -> None:
    """A status, and a body without end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while not ending.is_set():
        connection.sendall(b"x" * 65536)


def unused_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


def _request(connection: socket.socket) -> Received | None:
    with connection.makefile("rb") as stream:
        line = stream.readline().decode("latin-1").strip()
        if not line:
            return None
        lines = bytearray()
        while (header := stream.readline()) not in {b"\r\n", b""}:
            lines += header
        headers = BytesParser().parsebytes(bytes(lines))
        return Received(line, headers, stream.read(int(headers.get("Content-Length", "0"))))
