"""Requests over sockets that are kept open, counted and timed; small enough to leave the server a core."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPResponse
from itertools import cycle
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Thread
from time import perf_counter
from urllib.parse import urlsplit

import uvloop

KEY = "a-key-of-the-benchmark"
MAX_SECONDS = 30.0


@dataclass(frozen=True)
class Request:
    """One request, as its bytes, to a host and port."""

    host: str
    port: int
    content: bytes

    @classmethod
    def of(cls, url: str, path: str, body: bytes, headers: str, *, key: str = KEY) -> "Request":
        """A POST with a key, under these headers, each of which ends its line."""
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {key}\r\n"
            f"{headers}Content-Length: {len(body)}\r\n\r\n"
        )
        return cls(parts.hostname, parts.port, head.encode() + body)


@dataclass(frozen=True, eq=False)
class Timed:
    """Seconds that each request took, and that all of them took together."""

    each: Sequence[float]
    together: float


@dataclass
class Flood:
    """Numbers of requests that a client sent, and of those that were refused with 429."""

    sent: int = 0
    refused: int = 0


def once(request: Request) -> bytes:
    """The body of one answer; raises RuntimeError unless it is a 200, TimeoutError where none comes."""
    return uvloop.run(asyncio.wait_for(_once(request), MAX_SECONDS))


def load(*request: Request, requests: int, connections: int) -> Timed:
    """So many of each request, each connection sending the next after a response."""
    return uvloop.run(_load(request, requests, connections))


@contextmanager
def busy(*request: Request) -> Iterator[list[float]]:
    """While it is open, a process of its own sends these to a host in turn; afterwards the seconds of each."""
    seconds: list[float] = []
    spawn = get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    process = spawn.Process(target=_send_on, args=(request, sender), daemon=True)
    process.start()
    sender.close()
    receiver.recv()  # the first answer, from a client that has only just begun
    gathering = Thread(target=_gather, args=(receiver, seconds))
    gathering.start()
    try:
        yield seconds
    finally:
        process.kill()
        process.join()
        gathering.join()


@contextmanager
def flooded(request: Request, *, per_second: float) -> Iterator[Flood]:
    """While it is open, a process of its own sends so many a second, whatever the response; counted at the end."""
    flood, spawn = Flood(), get_context("spawn")
    receiver, sender = spawn.Pipe()
    process = spawn.Process(target=_flood, args=(request, per_second, sender), daemon=True)
    process.start()
    try:
        receiver.recv()  # it has begun
        yield flood
        receiver.send(None)
        flood.sent, flood.refused = receiver.recv()
    finally:
        process.kill()
        process.join()


def _flood(request: Request, per_second: float, parent: "Connection[object, object]") -> None:
    """Send and count, parsing little: it shares a core with the client whose requests are timed."""
    sent = refused = 0
    with socket.create_connection((request.host, request.port)) as open_socket:
        parent.send(None)
        began = perf_counter()
        while not parent.poll(max(0.0, began + sent / per_second - perf_counter())):
            open_socket.sendall(request.content)
            head, _, body = open_socket.recv(2**16).partition(b"\r\n\r\n")
            missing = int(head.lower().partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]) - len(body)
            while missing > 0:
                missing -= len(open_socket.recv(missing))
            sent += 1
            refused += head.startswith(b"HTTP/1.1 429 ")
    parent.send((sent, refused))


def _gather(receiver: "Connection[float, float]", seconds: list[float]) -> None:
    with suppress(EOFError):
        while True:
            seconds.append(receiver.recv())


def _send_on(request: Sequence[Request], sender: "Connection[float, float]") -> None:
    with socket.create_connection((request[0].host, request[0].port)) as open_socket:
        for one in cycle(request):
            began = perf_counter()
            open_socket.sendall(one.content)
            response = HTTPResponse(open_socket, method="POST")
            response.begin()
            body = response.read()
            if response.status != 200:
                raise RuntimeError(f"expected 200, got {response.status}: {body[:200]!r}")
            sender.send(perf_counter() - began)


async def _once(request: Request) -> bytes:
    return await _Connection(request).exchange(*await asyncio.open_connection(request.host, request.port))


async def _load(each: Sequence[Request], requests: int, connections: int) -> Timed:
    began = perf_counter()
    shares = [len(range(first, requests, connections)) for first in range(connections)]
    found = await asyncio.gather(*(_Connection(request).response_times(share) for request in each for share in shares))
    return Timed([took for each in found for took in each], perf_counter() - began)


class _Connection:
    """A socket of its own, over which one request follows the other."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self.seconds: list[float] = []

    async def response_times(self, number: int) -> list[float]:
        reader, writer = await asyncio.open_connection(self._request.host, self._request.port, limit=2**20)
        try:
            for _ in range(number):
                began = perf_counter()
                await self.exchange(reader, writer)
                self.seconds.append(perf_counter() - began)
        finally:
            writer.close()
        return self.seconds

    async def exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(self._request.content)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200 "):
            raise RuntimeError(f"expected 200, got {head[:200]!r}")
        lowered = head.lower()
        if b"\r\ntransfer-encoding: chunked\r\n" in lowered:
            return b"".join([piece async for piece in _pieces(reader)])
        length = int(lowered.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0])
        return await reader.readexactly(length)


async def _pieces(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int(await reader.readline(), 16):
        yield await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
