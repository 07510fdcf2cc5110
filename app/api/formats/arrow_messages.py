"""The messages of an Arrow stream: none is compressed, since few bytes could claim gigabytes, and nothing follows."""

import struct

import pyarrow as pa

from app.domain.errors import InvalidDataError, MalformedBodyError

_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3


def check_messages(stream: pa.Buffer) -> None:
    """Raise InvalidDataError where a message has compressed buffers, MalformedBodyError where bytes follow the end.

    Raises pa.ArrowException where the stream is broken.
    """
    source = pa.BufferReader(stream)
    messages = pa.ipc.MessageReader.open_stream(source)
    while True:
        try:
            message = messages.read_next_message()
        except StopIteration:
            if more := stream.size - source.tell():
                raise MalformedBodyError(f"Expected the Arrow stream's end, got {more:,} bytes behind it.") from None
            return
        # Arrow has verified the offsets in it.
        if _is_compressed(message.metadata.to_pybytes()):
            raise InvalidDataError(
                "The Arrow stream has compressed buffers, which are not unpacked: write it without compression, and "
                "compress the whole body (Content-Encoding: zstd) where it should be small."
            )


def _is_compressed(message: bytes) -> bool:
    """Of the flatbuffer `Message` of Arrow's format: whether its batch has the member `compression`."""
    root = _uint32(message, 0)
    kind, header = _member(message, root, 1), _member(message, root, 2)
    if not kind or not header or message[kind] not in {_DICTIONARY_BATCH, _RECORD_BATCH}:
        return False
    batch = header + _uint32(message, header)
    if message[kind] == _DICTIONARY_BATCH:
        data = _member(message, batch, 1)
        if not data:
            return False
        batch = data + _uint32(message, data)
    return _member(message, batch, 3) != 0


def _member(buffer: bytes, table: int, number: int) -> int:
    """Where a table's member stands, 0 where it has none."""
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
