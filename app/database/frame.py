"""The frame around arrays: a preamble, a JSON header, a body.

    preamble   magic "RLVC" (4 bytes), format version (1), codec of the body (1; 0: none, 1: zlib, 2: zstd), content (2;
               1: a block, 3: a log of fits, 4: a predictor), length of the header (4), length of the body (8), CRC-32
               of all other bytes (4); numbers little-endian
    header     UTF-8 JSON: {"arrays": [[dtype, shape, offset], ...], "value": ...}, keys sorted, no spaces
    body       the arrays, C order, little-endian, each beginning at a multiple of 8; offsets count before compression

dtype is one of "<f8", "<i8", "<i4", "|i1". Without compression, the same values give the same bytes everywhere. Every
codec is read; a compressed body is written with zstd.
"""

import json
import struct
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum, IntEnum
from math import prod
from typing import TypeAlias, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.records.errors import RelevanceError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAGIC = b"RLVC"
VERSION = 1
LEVEL = 1
"""The level of zstd: of a block of numbers, a higher one takes more time and few bytes less."""

PREAMBLE = struct.Struct("<4sBBHIQI")
CHECKSUM = struct.Struct("<I")
ALIGNMENT = 8
SAMPLE = 65_536
WORTH = 0.8

Stored: TypeAlias = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.int32] | NDArray[np.int8]
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | dict[str, Json] | None"


class Content(IntEnum):
    """The kind of content of a frame."""

    BLOCK = 1
    FIT_LOG = 3
    VERSION = 4


class BodyCodec(IntEnum):
    """The compression of a body."""

    NONE = 0
    ZLIB = 1
    ZSTD = 2


class UnreadableBytesError(RelevanceError):
    """Stored bytes that are incomplete, damaged, of another kind or of a later version."""


class NewerReleaseError(UnreadableBytesError):
    """Stored bytes that a newer release wrote, with a codec that this one does not know."""


def write(content: Content, value: Json, arrays: Sequence[Stored], *, compressible: bool) -> bytes:
    """Return a frame of a value and the arrays that it refers to by position."""
    described: list[Json] = []
    body = bytearray()
    for array in arrays:
        body += bytes(-len(body) % ALIGNMENT)
        described.append([_dtype(array), list(array.shape), len(body)])
        body += array.astype(_dtype(array), order="C", copy=False).tobytes()
    header = json.dumps(
        {"arrays": described, "value": value}, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    ).encode()
    codec = BodyCodec.ZSTD if compressible and _is_compressible(body) else BodyCodec.NONE
    stored = zstd.compress(body, LEVEL) if codec is BodyCodec.ZSTD else bytes(body)
    preamble = PREAMBLE.pack(MAGIC, VERSION, codec, content, len(header), len(stored), 0)
    covered = preamble[: -CHECKSUM.size]
    return b"".join((covered, CHECKSUM.pack(_checksum(covered, header, stored)), header, stored))


@dataclass(frozen=True)
class Arrays:
    """The arrays of a frame by position, each a copy; raises UnreadableBytesError for another dtype."""

    body: bytes | memoryview
    described: tuple[tuple[str, tuple[int, ...], int], ...]

    def real(self, number: int) -> NDArray[np.float64]:
        """Return a float64 array."""
        return self._raw(number, "<f8").astype(np.float64)

    def indices(self, number: int) -> NDArray[np.intp]:
        """Return an array of int64, as positions."""
        return self._raw(number, "<i8").astype(np.intp)

    def codes(self, number: int) -> NDArray[np.int32]:
        """Return an int32 array."""
        return self._raw(number, "<i4").astype(np.int32)

    def flags(self, number: int) -> NDArray[np.int8]:
        """Return an int8 array: 1 true, 0 false, -1 missing."""
        return self._raw(number, "|i1").astype(np.int8)

    def dtype(self, number: int) -> str:
        """Return the stored dtype of an array."""
        return self.described[number][0]

    def _raw(self, number: int, expected: str) -> Stored:
        dtype, shape, offset = self.described[number]
        if dtype != expected:
            raise UnreadableBytesError(f"expected an array of {expected}, got {dtype}")
        return np.frombuffer(self.body, dtype, count=prod(shape), offset=offset).reshape(shape)


def read(content: Content, data: bytes) -> tuple[Json, Arrays]:
    """Return the value and its arrays; raises UnreadableBytesError, of which NewerReleaseError is one."""
    if len(data) < PREAMBLE.size or not data.startswith(MAGIC):
        raise UnreadableBytesError("expected bytes of this service, got something else")
    _, version, codec, kind, header_size, body_size, checksum = PREAMBLE.unpack_from(data)
    if version != VERSION:
        raise UnreadableBytesError(f"expected format version {VERSION}, got {version}")
    if len(data) != PREAMBLE.size + header_size + body_size:
        required = PREAMBLE.size + header_size + body_size
        raise UnreadableBytesError(f"expected {required} bytes, got {len(data)}")
    header, stored = data[PREAMBLE.size : PREAMBLE.size + header_size], memoryview(data)[PREAMBLE.size + header_size :]
    if checksum != _checksum(data[: PREAMBLE.size - CHECKSUM.size], header, stored):
        raise UnreadableBytesError("the checksum is wrong: the bytes are damaged")
    if kind != content:
        raise UnreadableBytesError(f"expected a {content.name.lower()}, got content {kind}")
    body = _decompressed(codec, stored)
    parsed = json.loads(header)
    described = tuple((str(dtype), tuple(shape), int(offset)) for dtype, shape, offset in parsed["arrays"])
    return parsed["value"], Arrays(body, described)


def _decompressed(codec: int, stored: memoryview) -> bytes | memoryview:
    match codec:
        case BodyCodec.NONE:
            return stored
        case BodyCodec.ZLIB:
            return zlib.decompress(stored)
        case BodyCodec.ZSTD:
            return zstd.decompress(stored)
    known = ", ".join(f"{one} ({one.name.lower()})" for one in BodyCodec)
    raise NewerReleaseError(f"stored data was written by a newer release: expected a codec of {known}; got {codec}")


def _checksum(*parts: bytes | memoryview) -> int:
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return checksum


def _is_compressible(body: bytearray) -> bool:
    sample = body[:SAMPLE]
    return len(zstd.compress(sample, LEVEL)) < WORTH * len(sample)


def _dtype(array: Stored) -> str:
    return array.dtype.newbyteorder("<").str


def pack(value: object, arrays: list[Stored]) -> Json:
    """Return the JSON of a value, and append its arrays to `arrays`; raises TypeError for an unsupported type."""
    match value:
        case bool() | str() | None:
            return value
        case int() | np.integer():
            return int(value)
        case float():
            return float(value)
        case np.ndarray():
            arrays.append(_storable(value))
            return {"array": len(arrays) - 1}
        case tuple():
            return [pack(item, arrays) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: pack(getattr(value, field.name), arrays) for field in fields(value)}
    raise TypeError(f"expected records, tuples, arrays and plain values, got {type(value).__name__}")


def unpack(packed: Json, annotation: object, arrays: Arrays) -> object:
    """Return the value that `pack` was given, of this annotation; raises UnreadableBytesError."""
    match packed:
        case {"array": int(number)}:
            return arrays.real(number) if arrays.dtype(number) == "<f8" else arrays.indices(number)
        case dict():
            return _record(packed, annotation, arrays)
        case list():
            return tuple(unpack(item, annotation, arrays) for item in packed)
        case str():
            return next((kind(packed) for kind in _named(annotation) if issubclass(kind, Enum)), packed)
        case bool() | int() | float() | None:
            return packed
    raise UnreadableBytesError("expected a record, an array, a list or a plain value")


def _record(values: dict[str, Json], annotation: object, arrays: Arrays) -> object:
    kinds = [kind for kind in _named(annotation) if is_dataclass(kind)]
    if len(kinds) != 1:
        raise UnreadableBytesError(f"expected no record, got one of {', '.join(sorted(values))}")
    hints = get_type_hints(kinds[0])
    if not values.keys() <= hints.keys():
        raise UnreadableBytesError(f"expected the fields {', '.join(hints)}, got {', '.join(sorted(values))}")
    try:
        return kinds[0](**{name: unpack(value, hints[name], arrays) for name, value in values.items()})
    except TypeError as error:
        raise UnreadableBytesError(
            f"expected the fields {', '.join(hints)}, got {', '.join(sorted(values))}"
        ) from error


def _named(annotation: object) -> Iterator[type[object]]:
    if isinstance(annotation, type):
        yield annotation
    for argument in get_args(annotation):
        yield from _named(argument)


def _storable(array: object) -> Stored:
    if isinstance(array, np.ndarray):
        if array.dtype == np.float64:
            return array.astype(np.float64, copy=False)
        if array.dtype == np.intp:
            return array.astype(np.int64, copy=False)
    raise TypeError("expected an array of float64 or of positions")
