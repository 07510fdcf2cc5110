"""A real service that hostile clients talk to over raw sockets."""

import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.served import Service

TIMEOUT = 120.0


@dataclass(frozen=True)
class Target:
    """Where a service listens, its key, and the process that answers."""

    host: str
    port: int
    key: str
    pid: int

    @classmethod
    def of(cls, service: Service) -> "Target":
        """The HTTP port of a service."""
        url = urlsplit(service.url)
        assert url.hostname is not None
        assert url.port is not None
        return cls(url.hostname, url.port, service.key, service.pid)

    def cpu(self) -> float:
        """Seconds of CPU time of the process so far, to the nanosecond; threads that have ended are counted too.

        The number of a process's clock as Linux makes it (clock_getcpuclockid).
        """
        return time.clock_gettime((~self.pid << 3) | 2)

    def megabytes(self) -> float:
        """Memory that the process holds."""
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text())
        assert found is not None
        return int(found[1]) / 1024

    @contextmanager
    def connected(self) -> Iterator[socket.socket]:
        """A connection."""
        with socket.create_connection((self.host, self.port), timeout=TIMEOUT) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            yield client

    def sent(self, request: bytes) -> int:
        """The status with which a request is answered, however early; 0 where the connection ends without an answer."""
        with self.connected() as client:
            with suppress(ConnectionError):
                client.sendall(request)
            found = b""
            with suppress(ConnectionError):
                while b"\r\n" not in found:
                    piece = client.recv(65536)
                    if not piece:
                        return 0
                    found += piece
        return int(found.split(b" ", 2)[1]) if found.startswith(b"HTTP/1.1 ") else 0

    def post(self, path: str, media_type: str, body: bytes, *, encoding: str = "") -> bytes:
        """A whole request, with the key."""
        packed = f"Content-Encoding: {encoding}\r\n" if encoding else ""
        return (
            f"POST {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {self.key}\r\nContent-Type: {media_type}\r\n"
            f"{packed}Content-Length: {len(body)}\r\n\r\n"
        ).encode() + body
