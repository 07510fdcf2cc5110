"""Checks of an Arrow stream's messages before they are read: few compressed bytes could claim gigabytes."""

import struct
from collections.abc import Callable

import pyarrow as pa

from app.errors import MalformedBodyError
from relevance_bayes.types.errors import InvalidDataError

_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3


def read_messages(stream: pa.Buffer, check: Callable[[pa.ipc.Message], None]) -> int:
    """Call `check` with each message, and return the number of bytes up to the stream's end.

    Raises pa.ArrowException where the stream is malformed, and what `check` raises.
    """
    source = pa.BufferReader(stream)
    messages = pa.ipc.MessageReader.open_stream(source)
    while True:
        try:
            message = messages.read_next_message()
        except StopIteration:
            return source.tell()
        check(message)


def check_messages(stream: pa.Buffer) -> None:
    """Raise InvalidDataError where a message has compressed buffers, MalformedBodyError where bytes follow the end.

    Raises pa.ArrowException where the stream is malformed.
    """
    if more := stream.size - read_messages(stream, _check_uncompressed):
        raise MalformedBodyError(f"Expected the end of the Arrow stream, got {more:,} more bytes.")


def _check_uncompressed(message: pa.ipc.Message) -> None:
    if unpacked_size(message) is not None:
        raise InvalidDataError(
            "Expected an Arrow stream without compressed buffers; write it without compression, and "
            "compress the whole body (Content-Encoding: zstd) to reduce its size."
        )


def unpacked_size(message: pa.ipc.Message) -> int | None:
    """Return the decompressed size that a message claims for its buffers; None where they are not compressed.

    Reads the flatbuffer `Message` of Arrow's format, whose offsets Arrow has verified. Each buffer of a batch with the
    member `compression` begins with its decompressed size, -1 where it is not compressed. Raises MalformedBodyError.
    """
    content = message.metadata.to_pybytes()
    root = _uint32(content, 0)
    kind, header = _member(content, root, 1), _member(content, root, 2)
    if not kind or not header or content[kind] not in {_DICTIONARY_BATCH, _RECORD_BATCH}:
        return None
    batch = header + _uint32(content, header)
    if content[kind] == _DICTIONARY_BATCH:
        data = _member(content, batch, 1)
        if not data:
            return None
        batch = data + _uint32(content, data)
    if not _member(content, batch, 3):
        return None
    listed = _member(content, batch, 2)
    return _claimed(content, listed + _uint32(content, listed), memoryview(message.body or b"")) if listed else 0


def _claimed(content: bytes, buffers: int, body: memoryview) -> int:
    """Return the sum of the sizes at the beginnings of the buffers, which a vector of (offset, length) locates."""
    size = 0
    for place in range(buffers + 4, buffers + 4 + 16 * _uint32(content, buffers), 16):
        offset, length = struct.unpack_from("<qq", content, place)
        if not length:
            continue
        if offset < 0 or length < 8 or offset + length > len(body):
            raise MalformedBodyError("A compressed buffer exceeds its message.")
        (claimed,) = struct.unpack_from("<q", body, offset)
        size += length if claimed < 0 else claimed
    return size


def _member(buffer: bytes, table: int, number: int) -> int:
    """Return the position of a table's member, 0 where it is absent."""
    (distance,) = struct.unpack_from("<i", buffer, table)
    listed = table - distance
    (size,) = struct.unpack_from("<H", buffer, listed)
    place = 4 + 2 * number
    if place >= size:
        return 0
    (offset,) = struct.unpack_from("<H", buffer, listed + place)
    return table + offset if offset else 0


def _uint32(buffer: bytes, place: int) -> int:
    (value,) = struct.unpack_from("<I", buffer, place)
    return int(value)
