"""Request bodies: small ones of JSON, parsed strictly, and large ones in bounded memory."""

import json
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TypeVar

from anyio import CapacityLimiter, to_thread
from pydantic import TypeAdapter
from starlette.types import Receive

from app.errors import MalformedBodyError
from app.formats.cells import MAX_FAULTS
from app.formats.json_body import check_containers, check_members, decode
from app.formats.spool import new_spool_file, write_whole, writing
from relevance_bayes.records.errors import Fault, InvalidRequestError, pointer
from relevance_bayes.records.json import validate

T = TypeVar("T")

_NUL = "\\u0000"
"""The escape of NUL in JSON. A backslash before the same letters matches too, so a match is checked again."""

MAX_MEMBERS = 1_000
"""The maximum number of members of all objects in a small JSON body."""

MAX_DECODED_MEMBERS = 250_000
"""The maximum number of members of one object in a body that is decoded; more take over a tenth of a second."""

MAX_ELEMENTS = 50_000
"""The maximum number of elements of all arrays in a small JSON body, which may list the columns of a table."""

MAX_DOCUMENT_MEMBERS = 100_000
"""The maximum number of members of all objects in an exported version: one an input, of which 10,000 are allowed."""


def read_strictly(adapter: TypeAdapter[T], body: bytes) -> T:
    """Return a body as the adapter's type.

    Raises MalformedBodyError, InvalidDataError (NaN), InvalidRequestError, TooLargeError.
    """
    check_containers(body, 1 + MAX_MEMBERS + MAX_ELEMENTS)  # each but the outermost is a member or an element
    check_members(body, MAX_DECODED_MEMBERS)
    return checked(adapter, decode(body))


def checked(
    adapter: TypeAdapter[T],
    value: object,
    *,
    max_members: int = MAX_MEMBERS,
    max_elements: int | None = MAX_ELEMENTS,
    is_json: bool = True,
) -> T:
    """Return a JSON value as the adapter's type; raises InvalidRequestError.

    With `is_json`, an integer may be written as 3.0, since JSON has one type of numbers; query parameters may not.

    The size is checked first: pydantic lists every error, which can take more memory than the value itself.
    """
    _check_size(value, max_members, max_elements)
    if _NUL in json.dumps(value, allow_nan=False):
        _refuse_nul(value)
    return validate(adapter, value, converts_integers=is_json)


def _refuse_nul(value: object) -> None:
    """Raise InvalidRequestError where a string or key of a JSON value contains NUL, which PostgreSQL can't store."""
    faults = [Fault("The text contains NUL.", place) for place in islice(_places_of_nul(value), MAX_FAULTS)]
    if faults:
        raise InvalidRequestError(f"At {faults[0].pointer}: {faults[0].detail}", faults)


def _places_of_nul(value: object) -> Iterator[str]:
    pending: list[tuple[tuple[str | int, ...], object]] = [((), value)]
    while pending:
        path, part = pending.pop()
        if isinstance(part, str) and "\0" in part:
            yield pointer(path)
        elif isinstance(part, dict):
            yield from (pointer((*path, key)) for key in part if "\0" in key)
            pending.extend(((*path, key), inner) for key, inner in part.items() if isinstance(inner, str | dict | list))
        elif isinstance(part, list):
            pending.extend(((*path, n), inner) for n, inner in enumerate(part) if isinstance(inner, str | dict | list))


def _check_size(value: object, max_members: int, max_elements: int | None) -> None:
    """Raise InvalidRequestError for a JSON value with too many members or elements."""
    members = elements = 0
    pending = [value]
    while pending:
        container = pending.pop()
        if isinstance(container, dict):
            members += len(container)
            inner: Collection[object] = container.values()
        elif isinstance(container, list):
            elements += len(container)
            inner = container
        else:
            continue
        if members > max_members:
            raise InvalidRequestError(f"Expected at most {max_members:,} members of objects, got more.")
        if max_elements is not None and elements > max_elements:
            raise InvalidRequestError(f"Expected at most {max_elements:,} elements of arrays, got more.")
        pending.extend(part for part in inner if isinstance(part, dict | list))


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
