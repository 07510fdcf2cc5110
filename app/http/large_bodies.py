"""Request bodies in bounded memory: short ones stay in memory, long ones are written to disk."""

from pathlib import Path
from typing import BinaryIO

from anyio import CapacityLimiter, to_thread
from starlette.types import Receive

from app.errors import MalformedBodyError
from app.formats.spool import new_spool_file, write_whole, writing

PIECE_BYTES = 2**19
"""The minimum number of bytes in memory that are written at once, off the event loop."""

MAX_BYTES_IN_MEMORY = 2**24
"""The number of bytes in memory, over all long bodies of a process, above which they are written to disk."""

MAX_WRITERS = 2
"""The number of writer threads. They are separate, since requests that wait for the database may occupy all others."""


class LargeBodies:
    """The long bodies of a process, in unnamed files in `directory` (None: the system's temporary directory)."""

    def __init__(self, directory: Path | None, max_bytes_in_memory: int = MAX_BYTES_IN_MEMORY) -> None:
        self.directory = directory
        self.max_bytes_in_memory = max_bytes_in_memory
        self.bytes_in_memory = 0
        self.writers = CapacityLimiter(MAX_WRITERS)

    async def receive(self, receive: Receive) -> "bytes | LargeBody":
        """Return a body: bytes where it is short, else a `LargeBody`, which the caller must close.

        Raises MalformedBodyError where the client disconnects early, StorageFullError where the disk is full.
        """
        message = await receive()
        if message["type"] == "http.request" and not message.get("more_body"):
            content: bytes = message.get("body", b"")
            return content
        body = LargeBody(self)
        try:
            while message["type"] == "http.request":
                await body.append(message.get("body", b""))
                if not message.get("more_body"):
                    return await body.end()
                message = await receive()
        except BaseException:
            body.close()
            raise
        body.close()
        raise MalformedBodyError("Expected a complete body, got a connection closed before its end.")


class LargeBody:
    """A body received in several messages: a part on disk, followed by a part in memory."""

    def __init__(self, others: LargeBodies) -> None:
        self._others = others
        self._pieces: list[bytes] = []
        self._bytes_in_memory = 0
        self._file: BinaryIO | None = None

    async def append(self, piece: bytes) -> None:
        """Append a chunk; raises StorageFullError where the part in memory must be written and can't be."""
        self._pieces.append(piece)
        self._count(len(piece))
        is_full = self._others.bytes_in_memory > self._others.max_bytes_in_memory
        if is_full and self._bytes_in_memory >= PIECE_BYTES:
            await self._flush()

    async def end(self) -> "bytes | LargeBody":
        """Return the complete body: bytes where it is short."""
        if self._file is not None:
            await self._flush()
        return self.read() if self._file is None and self._bytes_in_memory < PIECE_BYTES else self

    def read(self) -> bytes:
        """Return the complete body as bytes, and close it."""
        try:
            if self._file is None:
                return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
            self._file.seek(0)
            return self._file.read()
        finally:
            self.close()

    def close(self) -> None:
        """Release its memory and its file."""
        self._pieces = []
        self._count(-self._bytes_in_memory)
        if self._file is not None:
            self._file.close()

    def _count(self, size: int) -> None:
        self._bytes_in_memory += size
        self._others.bytes_in_memory += size

    async def _flush(self) -> None:
        await to_thread.run_sync(self._write, self._pieces, limiter=self._others.writers)
        self._pieces = []
        self._count(-self._bytes_in_memory)

    def _write(self, pieces: list[bytes]) -> None:
        if self._file is None:
            self._file = new_spool_file(self._others.directory)  # closed by `close`
        with writing():
            for piece in pieces:
                write_whole(self._file, piece)
