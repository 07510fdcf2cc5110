"""The CPU time, the memory and the delay of health that hostile requests cost, without a key."""

import gzip
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from backports import zstd

from benchmarks.hostile.checkouts import MODEL, Running, checkouts
from benchmarks.options import Options
from benchmarks.report import Table

MAX_SECONDS = 120.0
HEALTH = b"GET /health/live HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
PREDICT = f"/v1/models/{MODEL}/predict"


def _post(path: str, media_type: str, body: bytes, more: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: h\r\nContent-Type: {media_type}\r\n{more}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _members(count: int) -> bytes:
    return b"{" + ",".join(f'"k{number}":1' for number in range(count)).encode() + b"}"


def _send(server: Running, *pieces: bytes, times: int = 1) -> None:
    """Send all pieces, the middle one so many times, and wait for an answer or the end of the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=MAX_SECONDS) as client, suppress(OSError):
        first, *middle = pieces
        client.sendall(first)
        for _ in range(times):
            for piece in middle:
                client.sendall(piece)
        client.recv(4096)


def _six(server: Running) -> None:
    request = _post(PREDICT, "application/json", b'{"rows":[' + _members(1_000_000) + b"]}")
    threads = [threading.Thread(target=_send, args=(server, request)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _half_open(server: Running) -> None:
    with ExitStack() as stack:
        for _ in range(1_100):
            with suppress(OSError):
                client = socket.create_connection(("127.0.0.1", server.port), timeout=5)
                stack.enter_context(client).sendall(b"GET / HTTP/1.1\r\nHo")
        time.sleep(2.0)


HEAD = b"POST /v1/models HTTP/1.1\r\nHost: h\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
FIELDS = b"a: b\r\n" * 10_000

ATTACKS: Mapping[str, Callable[[Running], None]] = {
    "100 MB of small headers": lambda server: _send(server, HEAD, FIELDS, times=1_700),
    "60 MB in one header value": lambda server: _send(server, HEAD + b"A: ", b"a" * 65_536, times=1_000),
    "40 MB of trailers": lambda server: _send(server, CHUNKED, FIELDS, times=700),
    "8,000 unknown members": lambda server: _send(
        server, _post("/v1/training-jobs", "application/json", _members(8_000))
    ),
    "100,000 zstd frames": lambda server: _send(
        server, _post(PREDICT, "text/csv", zstd.compress(b"") * 100_000, "Content-Encoding: zstd\r\n")
    ),
    "500,000 gzip members": lambda server: _send(
        server, _post(PREDICT, "text/csv", gzip.compress(b"") * 500_000, "Content-Encoding: gzip\r\n")
    ),
    "six rows of 1,000,000 members": _six,
    "1,100 half-open connections": _half_open,
}


@dataclass
class Health:
    """The longest response time of the health check, and the number of its failures."""

    slowest: float = 0.0
    failed: int = 0

    def poll(self, server: Running, stopping: threading.Event) -> None:
        """Send requests on new connections until it is stopped."""
        while not stopping.wait(0.02):
            began = time.monotonic()
            try:
                with socket.create_connection(("127.0.0.1", server.port), timeout=MAX_SECONDS) as client:
                    client.sendall(HEALTH)
                    self.failed += not client.recv(4096).startswith(b"HTTP/1.1 200")
            except OSError:
                self.failed += 1
            self.slowest = max(self.slowest, time.monotonic() - began)


def _measured(server: Running, attack: Callable[[Running], None]) -> tuple[str, ...]:
    health, stopping = Health(), threading.Event()
    polling = threading.Thread(target=health.poll, args=(server, stopping))
    polling.start()
    time.sleep(0.3)
    memory, cpu = server.megabytes(), server.cpu()
    attack(server)
    time.sleep(0.2)
    stopping.set()
    polling.join()
    grown = server.megabytes("VmHWM") - memory
    return f"{server.cpu() - cpu:.2f}", f"{grown:.0f}", f"{health.slowest:.2f}", str(health.failed)


def hostile(options: Options) -> list[Table]:
    """One table: a process for each attack, of the other checkout and of this one."""
    rows = []
    with checkouts(options.against) as both:
        for name, attack in ATTACKS.items():
            cells: list[str] = []
            for checkout in both:
                with checkout.running() as server:
                    cells += _measured(server, attack)
            rows.append((name, *cells))
    columns = ("CPU s", "MB more", "health s", "health failed")
    names = ("before", "after") if options.against is not None else ("",)
    header = ("attack", *(f"{column} {name}".strip() for name in names for column in columns))
    note = (
        "Each against a process of its own with 1,024 descriptors, without a key. MB more: the peak above the memory"
        " before. Health: the slowest answer to GET /health/live, each on a new connection, and how many got none."
    )
    return [Table("Hostile clients", header, tuple(rows), (note,))]
