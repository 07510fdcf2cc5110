"""Bodies on disk: unnamed files of bounded size, which vanish when they are closed or the process dies."""

import hashlib
import io
import mmap
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from anyio import to_thread

from app.errors import TooLargeError, UnavailableError

PIECE = 2**20
"""The number of bytes buffered in memory before they are written, off the event loop."""


class BodyFile(Protocol):
    """A complete body, on disk or in memory, that can be read from any position."""

    def reader(self, position: int = 0, *, then: bytes = b"") -> BinaryIO:
        """Return a reader from byte `position` on, which appends `then` to the end; readers are independent."""


class BodyInMemory:
    """A body in memory."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def reader(self, position: int = 0, *, then: bytes = b"") -> BinaryIO:
        """Return a reader from byte `position` on, which appends `then` to the end; readers are independent."""
        reader = io.BytesIO(self._body + then if then else self._body)
        reader.seek(position)
        return reader


class SpoolFile:
    """A body on disk, of at most `max_bytes`."""

    def __init__(self, file: BinaryIO, max_bytes: int) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._waiting = bytearray()
        self._digest = hashlib.sha256()
        self.size = 0

    def allow(self, max_bytes: int) -> None:
        """Lower the limit once the format is known; raises TooLargeError."""
        self._max_bytes = min(self._max_bytes, max_bytes)
        self.refuse_above(self.size)

    def refuse_above(self, size: int) -> None:
        """Raise TooLargeError when a body of `size` bytes is too large."""
        if size > self._max_bytes:
            raise TooLargeError(f"Expected a body of at most {self._max_bytes:,} bytes, got more.")

    async def write(self, piece: bytes) -> None:
        """Append; raises TooLargeError above the limit, UnavailableError when the disk is full."""
        self.size += len(piece)
        self.refuse_above(self.size)
        self._waiting += piece
        if len(self._waiting) >= PIECE:
            await self.flush()

    async def flush(self) -> None:
        """Write the buffer; raises UnavailableError when the disk is full."""
        waiting, self._waiting = self._waiting, bytearray()
        await to_thread.run_sync(self._write, waiting)

    def _write(self, piece: bytearray) -> None:
        try:
            self._digest.update(piece)
            self._file.write(piece)
            self._file.flush()
        except OSError as error:
            raise UnavailableError("The disk has no space for the body.") from error

    def digest(self) -> bytes:
        """Return the SHA-256 of the flushed bytes."""
        return self._digest.digest()

    def reader(self, position: int = 0, *, then: bytes = b"") -> io.BufferedReader:
        """Return a reader from byte `position` on, which appends `then` to the end; readers are independent."""
        return io.BufferedReader(_Reader(self._file.fileno(), self.size, position, then), PIECE)

    def mapped(self) -> bytes | mmap.mmap:
        """Return the complete body, memory-mapped."""
        return mmap.mmap(self._file.fileno(), self.size, access=mmap.ACCESS_READ) if self.size else b""

    def read(self) -> bytes:
        """Return the complete body."""
        return self.reader().read()


class _Reader(io.RawIOBase):
    """A reader of a file of `size` bytes, and of bytes appended to it, from `position` on."""

    def __init__(self, descriptor: int, size: int, position: int, then: bytes) -> None:
        # A duplicate, since a thread may still read after the request has closed the file.
        self._descriptor = os.dup(descriptor)
        self._size = size
        self._position = position
        self._then = then

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size + len(self._then)}[whence]
        self._position = max(origin + offset, 0)
        return self._position

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]  # the wider type has a name from 3.12 on
        if self._position < self._size:
            piece = os.pread(self._descriptor, len(buffer), self._position)
        else:
            behind = self._position - self._size
            piece = self._then[behind : behind + len(buffer)]
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)


@asynccontextmanager
async def spooled(directory: Path | None, *, max_bytes: int) -> AsyncIterator[SpoolFile]:
    """Return a new, empty file in `directory`, which is created if absent (None: the system's temporary directory)."""
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=directory) as file:
        yield SpoolFile(file, max_bytes)
