"""uvicorn's HTTP with the head of an answer and its body in one write."""

import asyncio
from typing import TypeAlias

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

Piece: TypeAlias = bytes | bytearray | memoryview

MOST_KEPT = 65_536
"""Bytes that wait for more, so that a long answer is not kept back, and slow clients are noticed."""


class OneWriteProtocol(HttpToolsProtocol):
    """Writes through a `Gathering`: uvicorn sends the head by itself, and a packet more, for which the kernel wakes the
    client once more, costs as much as a prediction."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """A client has come."""
        super().connection_made(Gathering(transport, self.loop))


class Gathering(asyncio.Transport):
    """What uvicorn needs of a transport; what is written until the event loop turns goes out at once, in the end.

    Clients that ask at the same time so find their answers together: fewer of them are woken in vain, and the last one
    waits less.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._kept: list[Piece] = []
        self._size = 0

    def write(self, data: Piece) -> None:
        """Keep it for a moment."""
        if not self._kept:
            self._loop.call_soon(self._let_go)
        self._kept.append(data)
        self._size += len(data)
        if self._size > MOST_KEPT:
            self._let_go()

    def _let_go(self) -> None:
        kept, self._kept, self._size = self._kept, [], 0
        if kept and not self._transport.is_closing():
            self._transport.writelines(kept)

    def close(self) -> None:
        """Close it once all is written."""
        self._let_go()
        self._transport.close()

    def is_closing(self) -> bool:
        """Whether it is closed or will be."""
        return self._transport.is_closing()

    def pause_reading(self) -> None:
        """Leave what the client sends to the kernel."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Take it again."""
        self._transport.resume_reading()

    def get_extra_info(self, name: str, default: object = None) -> object:
        """What is known of the connection."""
        return self._transport.get_extra_info(name, default)
