"""A transport that sends the head of a response and its body in one write."""

import asyncio
from typing import TypeAlias

Piece: TypeAlias = bytes | bytearray | memoryview

MAX_BUFFERED = 65_536
"""Bytes held back for further writes: a long response is not delayed, and slow clients are noticed."""


class CoalescingTransport(asyncio.Transport):
    """Coalesces the writes of one iteration of the event loop into one; the part of a transport that uvicorn uses.

    uvicorn sends the head of a response by itself. A second packet, for which the kernel wakes the client once more,
    costs as much as a prediction. Responses that are ready at the same time also reach their clients together: fewer
    clients are woken in vain, and the last one waits less.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._pending: list[Piece] = []
        self._size = 0

    def write(self, data: Piece) -> None:
        """Buffer `data` until the event loop's next iteration."""
        if not self._pending:
            self._loop.call_soon(self._flush)
        self._pending.append(data)
        self._size += len(data)
        if self._size > MAX_BUFFERED:
            self._flush()

    def _flush(self) -> None:
        pending, self._pending, self._size = self._pending, [], 0
        if pending and not self._transport.is_closing():
            self._transport.writelines(pending)

    def close(self) -> None:
        """Write what is buffered, then close."""
        self._flush()
        self._transport.close()

    def write_eof(self) -> None:
        """Write what is buffered, then close the sending half."""
        self._flush()
        if not self._transport.is_closing():
            self._transport.write_eof()

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that were written and not sent yet."""
        return self._size + self._transport.get_write_buffer_size()

    def abort(self) -> None:
        """Close at once, whatever is buffered."""
        self._transport.abort()

    def is_closing(self) -> bool:
        """Return whether it is closed or will be."""
        return self._transport.is_closing()

    def pause_reading(self) -> None:
        """Pause reading: what the client sends stays with the kernel."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Resume reading."""
        self._transport.resume_reading()

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Return what is known of the connection."""
        return self._transport.get_extra_info(name, default)
