"""One HTTP request, of whose response only the status is read.

No HTTP client library is used: none of them bounds the total time of a request to a server that sends a byte a second,
or connects to an address that was checked without resolving the name again.
"""

import re
import socket
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TypeAlias

from app.addresses import Allowance, Target
from app.jobs.worker.retry import Interrupted
from relevance_bayes.types.webhooks import DeliveryError

SECONDS = 10.0
"""Seconds for one attempt, from the DNS lookup to the status."""

CONNECT_SECONDS = 4.0
"""Seconds of these for one connection and its TLS handshake; less than a worker's grace period."""

LAST_SECONDS = 2.0
"""Seconds for a request in progress at shutdown; an unfinished one is handed back, and sent again by another worker."""

PIECE = 0.25


@dataclass
class Deadline:
    """A countdown from its construction; it ends soon once `stopping` is set."""

    stopping: Event
    seconds: float = SECONDS
    began: float = field(default_factory=time.monotonic)
    shutdown_signal: float | None = field(default=None, init=False)

    def piece(self, most: float = PIECE) -> float:
        """Return the seconds to wait before the next check; raises TimeoutError, Interrupted."""
        now = time.monotonic()
        left = self.began + self.seconds - now
        if left <= 0:
            raise TimeoutError
        if self.stopping.is_set():
            if self.shutdown_signal is None:
                self.shutdown_signal = now
            left = min(left, self.shutdown_signal + LAST_SECONDS - now)
            if left <= 0:
                raise Interrupted
        return min(most, left)


SocketAddress: TypeAlias = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
Found: TypeAlias = tuple[socket.AddressFamily, socket.SocketKind, int, str, SocketAddress]

STATUS = re.compile(rb"HTTP/1\.[01] ([1-9][0-9][0-9])(?=[ \r])")
MAX_HEAD_BYTES = 16 * 1024
"""The most bytes of the headers, and of the part of the body that is read and discarded."""

DROP_SECONDS = 0.5


class NotSent(Exception):
    """The request got no status; `reason` is the reason."""

    def __init__(self, reason: DeliveryError) -> None:
        super().__init__(reason)
        self.reason: DeliveryError = reason


def post(target: Target, headers: Mapping[str, str], body: bytes, *, allowed: Allowance, deadline: Deadline) -> int:
    """Return the status of the response; redirects are not followed. Raises NotSent, Interrupted."""
    head = {
        "Host": target.authority,
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **headers,
    }
    lines = [f"POST {target.path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
    try:
        with _connected(target, _addresses(target, allowed, deadline), deadline) as connection:
            _send(connection, "\r\n".join(lines).encode("ascii") + body, deadline)
            return _status(connection, deadline)
    except TimeoutError as error:
        raise NotSent("timeout") from error
    except ssl.SSLError as error:
        raise NotSent("tls") from error
    except OSError as error:
        raise NotSent("not-connected") from error


def _addresses(target: Target, allowed: Allowance, deadline: Deadline) -> Sequence[Found]:
    """Return all addresses of a host, if each of them is allowed."""
    found = _looked_up(target, deadline)
    if not all(allowed.admits(target, ip_address(str(address[0]))) for *_, address in found):
        raise NotSent("address-refused")
    return found


def _looked_up(target: Target, deadline: Deadline) -> Sequence[Found]:
    """Resolve a host in a thread of its own, since a lookup has no timeout."""
    responses: SimpleQueue[Sequence[Found] | OSError] = SimpleQueue()

    def look() -> None:
        try:
            responses.put(socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM))
        except OSError as error:
            responses.put(error)

    Thread(target=look, name="look-up", daemon=True).start()
    while True:
        with suppress(Empty):
            response = responses.get(timeout=deadline.piece())
            break
    if isinstance(response, OSError) or not response:
        raise NotSent("name-not-found")
    return response


@contextmanager
def _connected(target: Target, found: Sequence[Found], deadline: Deadline) -> Iterator[socket.socket]:
    """Open a connection to the first address that accepts one."""
    plain = _first(found, deadline)
    with plain:
        if target.scheme == "http":
            yield plain
            return
        plain.settimeout(deadline.piece(CONNECT_SECONDS))
        with _trust().wrap_socket(plain, server_hostname=target.host.rstrip(".")) as secured:
            yield secured


@cache
def _trust() -> ssl.SSLContext:
    """Return a TLS context with the machine's trusted certificates."""
    return ssl.create_default_context()


def _first(found: Sequence[Found], deadline: Deadline) -> socket.socket:
    refusal: OSError | None = None
    for family, kind, protocol, _, address in found:
        try:
            return _open(socket.socket(family, kind, protocol), address, deadline)
        except OSError as error:
            refusal = error
    raise refusal or NotSent("name-not-found")


def _open(connection: socket.socket, address: SocketAddress, deadline: Deadline) -> socket.socket:
    with ExitStack() as failing:
        failing.enter_context(connection)
        connection.settimeout(deadline.piece(CONNECT_SECONDS))
        connection.connect(address)
        failing.pop_all()
    return connection


def _send(connection: socket.socket, content: bytes, deadline: Deadline) -> None:
    left = memoryview(content)
    while left:
        connection.settimeout(deadline.piece())
        with suppress(TimeoutError):
            left = left[connection.send(left) :]


def _status(connection: socket.socket, deadline: Deadline) -> int:
    """Return the first status that is not informational (1xx), once its headers are complete."""
    head = b""
    for _ in range(10):
        while (end := head.find(b"\r\n\r\n")) < 0:
            if len(head) > MAX_HEAD_BYTES:
                raise NotSent("not-http")
            received = _received(connection, deadline)
            if not received:
                raise NotSent("not-http" if head else "not-connected")
            head += received
            if not STATUS.match(head[:13].ljust(13)) and len(head) >= 13:
                raise NotSent("not-http")
        found = STATUS.match(head)
        if found is None:
            raise NotSent("not-http")
        if found[1][:1] != b"1":
            _drop(connection, len(head) - end)
            return int(found[1])
        head = head[end + 4 :]
    raise NotSent("not-http")


def _received(connection: socket.socket, deadline: Deadline) -> bytes:
    while True:
        connection.settimeout(deadline.piece())
        with suppress(TimeoutError):
            return connection.recv(4096)


def _drop(connection: socket.socket, length: int) -> None:
    """Read a little of the body, lest the server gets a reset while it sends it; errors are ignored."""
    deadline = Deadline(Event(), DROP_SECONDS)
    with suppress(OSError):
        while length < MAX_HEAD_BYTES and (received := _received(connection, deadline)):
            length += len(received)
