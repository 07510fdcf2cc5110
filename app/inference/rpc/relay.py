"""A relay before the gRPC server of a service without keys, which reads the hosts that requests name.

gRPC's library does not show `:authority` to a server in Python, so connections arrive here first. A server that needs
keys is reached directly.
"""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from hpack import Decoder, HPACKError
from hyperframe.exceptions import HyperframeError
from hyperframe.frame import ContinuationFrame, Frame, HeadersFrame

from app.errors import MisdirectedError
from app.http.origins import Hosts

PREFACE_BYTES = 24
FRAME_HEADER_BYTES = 9
MAX_PADDING_BYTES = 1 + 255 + 5
"""The maximum number of bytes of a frame's padding and priority, which are no part of its header block."""

HOSTS = frozenset({b":authority", b"host"})
"""The fields that name a host; gRPC reads the second where the first is missing."""


class RequestHosts:
    """Reads what a client sends on one connection."""

    def __init__(self, max_block_bytes: int) -> None:
        self._max_block = max_block_bytes
        self._received = bytearray()
        self._skipped = PREFACE_BYTES
        self._block = bytearray()
        self._stream = self._last_stream = 0
        self._decoder = Decoder(max_block_bytes)

    def feed(self, data: bytes) -> Iterator[list[bytes]]:
        """Yield the hosts of each request whose header block ends in received bytes.

        Raises ValueError for what is no header block, or a larger one, encoded or decoded: the connection can't be
        read further.
        """
        self._received += data
        try:
            while (frame := self._frame()) is not None:
                if isinstance(frame, HeadersFrame):
                    self._stream, self._block = frame.stream_id, bytearray()
                self._block += frame.data
                if len(self._block) > self._max_block:
                    raise self._too_large()
                if "END_HEADERS" in frame.flags:
                    fields = self._decoder.decode(bytes(self._block), raw=True)
                    hosts = [value for name, value in fields if name in HOSTS]
                    if hosts or self._stream > self._last_stream:  # else trailers
                        yield hosts
                    self._last_stream = max(self._stream, self._last_stream)
        except (HPACKError, HyperframeError) as error:
            raise ValueError(f"Expected header blocks in frames of HTTP/2: {error}") from error

    def _frame(self) -> HeadersFrame | ContinuationFrame | None:
        """Return the next frame of a header block, once it has arrived; others are skipped and never kept."""
        while True:
            dropped = min(self._skipped, len(self._received))
            del self._received[:dropped]
            self._skipped -= dropped
            if self._skipped or len(self._received) < FRAME_HEADER_BYTES:
                return None
            frame, size = Frame.parse_frame_header(memoryview(self._received[:FRAME_HEADER_BYTES]))
            end = FRAME_HEADER_BYTES + size
            if isinstance(frame, HeadersFrame | ContinuationFrame):
                if size > self._max_block + MAX_PADDING_BYTES:
                    raise self._too_large()
                if len(self._received) < end:
                    return None
                frame.parse_body(memoryview(self._received[FRAME_HEADER_BYTES:end]))
                self._skipped = end
                return frame
            self._skipped = end

    def _too_large(self) -> ValueError:
        return ValueError(f"Expected a header block of at most {self._max_block} bytes.")


LOOPBACK = "127.0.0.1"
PIECE_BYTES = 65_536


@dataclass
class _Connection:
    """A client's connection: its peer as gRPC writes it, and the refusal of a host that it has named."""

    peer: str
    refusal: str | None = None


class Relay:
    """Relays connections to the gRPC server; each is known there by its port on the loopback interface.

    A connection is closed when what is sent over it has not been received for `max_stalled_seconds`.
    """

    def __init__(self, hosts: Hosts, *, max_block_bytes: int, max_connections: int, max_stalled_seconds: float) -> None:
        self._hosts = hosts
        self._max_block = max_block_bytes
        self._max_connections = max_connections
        self._max_stalled = max_stalled_seconds
        self._connections: dict[str, _Connection] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._to = 0

    async def listen(self, host: str, port: int, *, to: int) -> int:
        """Listen, relay connections to a port on the loopback interface, and return the own one; raises OSError."""
        self._to = to
        if ":" in host:
            with_ipv4 = socket.has_dualstack_ipv6() and host == "::"
            listener = socket.create_server((host, port), family=socket.AF_INET6, dualstack_ipv6=with_ipv4)
            self._server = await asyncio.start_server(self._accept, sock=listener)
        else:
            self._server = await asyncio.start_server(self._accept, host, port)
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    def check(self, peer: str) -> None:
        """Raise MisdirectedError for a call on a connection on which a host was named that is not served."""
        connection = self._connections.get(peer)
        refusal = "Expected a call through the service's port." if connection is None else connection.refusal
        if refusal is not None:
            raise MisdirectedError(refusal)

    def peer(self, peer: str) -> str:
        """Return the client of a connection that the server knows by its peer."""
        connection = self._connections.get(peer)
        return peer if connection is None else connection.peer

    def stop_listening(self) -> None:
        """Accept no further connections."""
        if self._server is not None:
            self._server.close()

    async def close(self) -> None:
        """Close all connections."""
        self.stop_listening()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._tasks) >= self._max_connections:
            writer.transport.abort()
            return
        self._tasks.add(task)
        try:
            with suppress(OSError, ValueError, asyncio.CancelledError):
                await self._relay(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (peername := writer.get_extra_info("peername")) is None:  # reset before it was accepted
            return
        address, port = peername[:2]
        connection = _Connection(f"ipv6:%5B{address}%5D:{port}" if ":" in address else f"ipv4:{address}:{port}")
        server_reader, server_writer = await asyncio.open_connection(LOOPBACK, self._to)
        key, back = "", asyncio.create_task(self._copy(server_reader, writer))
        try:
            key = f"ipv4:{LOOPBACK}:{server_writer.get_extra_info('sockname')[1]}"
            self._connections[key] = connection
            hosts, server = RequestHosts(self._max_block), writer.get_extra_info("sockname")
            while data := await reader.read(PIECE_BYTES):
                for named in hosts.feed(data):
                    self._note(connection, named, server)
                await self._write(server_writer, data)
            if not server_writer.is_closing():
                server_writer.write_eof()
            await back
        finally:
            back.cancel()
            server_writer.transport.abort()
            self._connections.pop(key, None)

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Copy what the server sends, to its end or a reset, and close the client's connection, whose reader ends."""
        try:
            with suppress(ConnectionError):
                while data := await reader.read(PIECE_BYTES):
                    await self._write(writer, data)
            writer.close()
            async with asyncio.timeout(self._max_stalled):
                await writer.wait_closed()
        except OSError:
            pass
        finally:
            writer.transport.abort()

    async def _write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        if writer.is_closing():  # uvloop raises RuntimeError
            raise ConnectionResetError
        writer.write(data)
        async with asyncio.timeout(self._max_stalled):
            await writer.drain()

    def _note(self, connection: _Connection, named: list[bytes], server: tuple[str, int]) -> None:
        try:
            for name in named:
                self._hosts.check_names([name], server)
            if not named:
                self._hosts.check_names([], server)
        except MisdirectedError as error:
            connection.refusal = connection.refusal or error.detail
