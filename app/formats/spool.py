"""Bodies on disk: unnamed files of bounded size, which vanish when they are closed or the process dies."""

import errno
import hashlib
import io
import mmap
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from anyio import to_thread

from app.errors import StorageFullError, TooLargeError, UnavailableError

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


WITHOUT_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of writes that a disk does not take: it is full, its quota is used up, or a file may not become so large."""


@contextmanager
def writing() -> Iterator[None]:
    """Raise StorageFullError for a spool directory whose disk is full, UnavailableError where it can't be used."""
    try:
        yield
    except OSError as error:
        if error.errno in WITHOUT_SPACE:
            detail = "The disk of the spool directory (RELEVANCE_SPOOL_DIRECTORY) is full, and the body needs it."
            raise StorageFullError(detail) from error
        raise UnavailableError(f"The spool directory can't be written: {error.strerror}.") from error


def new_spool_file(directory: Path | None) -> BinaryIO:
    """Return a new, unnamed file in `directory`, which is created if absent (None: the system's temporary directory).

    It has no buffer, since to close it would then write once more what a full disk did not take. Raises as `writing`.
    """
    with writing():
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryFile(dir=directory, buffering=0)


def write_whole(file: BinaryIO, content: bytes | bytearray) -> None:
    """Write all bytes to a file without a buffer, which may take fewer at once; raises OSError."""
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]


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
        """Append; raises TooLargeError above the limit, StorageFullError when the disk is full."""
        self.size += len(piece)
        self.refuse_above(self.size)
        self._waiting += piece
        if len(self._waiting) >= PIECE:
            await self.flush()

    async def flush(self) -> None:
        """Write the buffer; raises StorageFullError when the disk is full."""
        waiting, self._waiting = self._waiting, bytearray()
        await to_thread.run_sync(self._write, waiting)

    def _write(self, piece: bytearray) -> None:
        self._digest.update(piece)
        with writing():
            write_whole(self._file, piece)

    def digest(self) -> bytes:
        """Return the SHA-256 of the flushed bytes."""
        return self._digest.digest()

    def reader(self, position: int = 0, *, then: bytes = b"") -> io.BufferedReader:
        """Return a reader from byte `position` on, which appends `then` to the end; readers are independent."""
        return io.BufferedReader(_Reader(self._file.fileno(), self.size, position, then), PIECE)

    def mapped(self, access: int = mmap.ACCESS_READ) -> bytes | mmap.mmap:
        """Return the complete body, memory-mapped; with ACCESS_COPY changes of it stay in memory."""
        return mmap.mmap(self._file.fileno(), self.size, access=access) if self.size else b""

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
    """Return a new, empty file; raises as `new_spool_file` does."""
    with new_spool_file(directory) as file:
        yield SpoolFile(file, max_bytes)
