"""A transport that sends the head and the body of a response in one write."""

import asyncio
from typing import TypeAlias

Piece: TypeAlias = bytes | bytearray | memoryview

MAX_BUFFERED = 65_536
"""The maximum number of buffered bytes, so that long responses are not delayed and slow clients are detected."""


class CoalescingTransport(asyncio.Transport):
    """Coalesces the writes of one iteration of the event loop; it implements the part of a transport that uvicorn uses.

    uvicorn writes the head of a response separately. A second packet wakes the client twice, which costs as much as a
    prediction. Responses that are ready at the same time are sent together, so fewer clients wake early and the last
    one waits less.
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
        """Write the buffer, then close."""
        self._flush()
        self._transport.close()

    def write_eof(self) -> None:
        """Write the buffer, then close the sending half."""
        self._flush()
        if not self._transport.is_closing():
            self._transport.write_eof()

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that are not sent yet."""
        return self._size + self._transport.get_write_buffer_size()

    def abort(self) -> None:
        """Close at once and drop the buffer."""
        self._transport.abort()

    def is_closing(self) -> bool:
        """Return whether it is closed or closing."""
        return self._transport.is_closing()

    def pause_reading(self) -> None:
        """Pause reading: further data stays in the kernel's buffer."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Resume reading."""
        self._transport.resume_reading()

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Return information about the connection."""
        return self._transport.get_extra_info(name, default)
