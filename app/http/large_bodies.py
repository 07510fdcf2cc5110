"""Bodies of requests: short ones in memory, and of long ones no more than a bounded part, the rest on disk."""

import tempfile
from pathlib import Path
from typing import BinaryIO

from anyio import CapacityLimiter, to_thread
from starlette.types import Receive

from app.errors import MalformedBodyError, UnavailableError

PIECE_BYTES = 2**19
"""So much of a body is in memory at least before it is written, off the event loop; shorter bodies are short."""

MAX_BYTES_IN_MEMORY = 2**24
"""Of all long bodies of a process that come or wait: one that waits alone is not written."""

MAX_WRITERS = 2
"""Threads of their own: all others may be taken by requests that wait for a database that does not answer."""


class LargeBodies:
    """The long bodies of a process, in files without names in `directory` (None: the system's place for such files)."""

    def __init__(self, directory: Path | None, max_bytes_in_memory: int = MAX_BYTES_IN_MEMORY) -> None:
        self.directory = directory
        self.max_bytes_in_memory = max_bytes_in_memory
        self.bytes_in_memory = 0
        self.writers = CapacityLimiter(MAX_WRITERS)

    async def receive(self, receive: Receive) -> "bytes | LargeBody":
        """A body, mostly one message; a long one is to be closed.

        Raises MalformedBodyError where the client leaves before the last, UnavailableError where there is no space.
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
        raise MalformedBodyError("The connection ended before the body did.")


class LargeBody:
    """A body that comes in several messages: their bytes that are in memory follow those on disk."""

    def __init__(self, others: LargeBodies) -> None:
        self._others = others
        self._pieces: list[bytes] = []
        self._bytes_in_memory = 0
        self._file: BinaryIO | None = None

    async def append(self, piece: bytes) -> None:
        """Raises UnavailableError where what is in memory has to be written and can't."""
        self._pieces.append(piece)
        self._count(len(piece))
        is_full = self._others.bytes_in_memory > self._others.max_bytes_in_memory
        if is_full and self._bytes_in_memory >= PIECE_BYTES:
            await self._flush()

    async def end(self) -> "bytes | LargeBody":
        """The body as it is when all has come: a short one is bytes."""
        if self._file is not None:
            await self._flush()
        return self.read() if self._file is None and self._bytes_in_memory < PIECE_BYTES else self

    def read(self) -> bytes:
        """All of it, which is given up."""
        try:
            if self._file is None:
                return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
            self._file.seek(0)
            return self._file.read()
        finally:
            self.close()

    def close(self) -> None:
        """Give it up."""
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
        try:
            if self._file is None:
                if self._others.directory is not None:
                    self._others.directory.mkdir(parents=True, exist_ok=True)
                self._file = tempfile.TemporaryFile(dir=self._others.directory)  # noqa: SIM115  # closed by `close`
            self._file.writelines(pieces)
            self._file.flush()
        except OSError as error:
            raise UnavailableError("There is no space for the body now.") from error
