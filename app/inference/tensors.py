"""Tensors of the protocol: data types, and their values as bytes and in JSON."""

import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
import orjson
from numpy.typing import NDArray

from app.errors import MalformedBodyError
from app.formats.cells import JSON
from relevance_bayes.records.json import as_integer
from relevance_bayes.tasks.cancellation import check_cancelled

Numbers: TypeAlias = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.uint64] | NDArray[np.bool_]
Values: TypeAlias = Numbers | tuple[str, ...]
"""The flat values of a tensor: numbers, or strings."""

TEXT = "BYTES"
HALF = "FP16"

CODES: Mapping[str, str] = {
    "BOOL": "?",
    **{f"UINT{8 * size}": f"<u{size}" for size in (1, 2, 4, 8)},
    **{f"INT{8 * size}": f"<i{size}" for size in (1, 2, 4, 8)},
    HALF: "<f2",
    "FP32": "<f4",
    "FP64": "<f8",
}
"""The numpy types of the numeric data types."""

FLOATS = frozenset({"FP32", "FP64"})
"""Data types whose values JSON represents as numbers with a fraction."""

DATATYPES = (*CODES, TEXT)
MAX_AXES = 8

_LENGTH = struct.Struct("<I")
WIDEST_TYPES = {"f": "=f8", "i": "=i8", "u": "=u8", "b": "?"}
"""The type in which numbers of each kind are stored."""


class Tensor(NamedTuple):
    """A named tensor; the number of `values` is the product of its `shape`."""

    name: str
    datatype: str
    shape: tuple[int, ...]
    values: Values


def size_of(name: str, datatype: str, shape: Sequence[int]) -> int:
    """Return the number of values of a tensor; raises MalformedBodyError for an invalid type or shape."""
    if datatype not in DATATYPES:
        raise MalformedBodyError(f"Tensor {name!r}: expected a data type of {', '.join(DATATYPES)}, got {datatype!r}.")
    check_shape(name, shape)
    if any(length < 0 for length in shape):
        raise MalformedBodyError(f"Tensor {name!r}: expected lengths of axes, got {list(shape)}.")
    return math.prod(shape)


def check_shape(name: str, shape: Sequence[float]) -> None:
    """Raise MalformedBodyError for no axes, or for too many."""
    if not 0 < len(shape) <= MAX_AXES:
        raise MalformedBodyError(f"Tensor {name!r}: expected 1 to {MAX_AXES} lengths of axes, got {len(shape)}.")


def from_values(name: str, datatype: str, shape: Sequence[int], found: Sequence[float] | Sequence[str]) -> Tensor:
    """Return a tensor of these flat values; raises MalformedBodyError."""
    size = size_of(name, datatype, shape)
    try:
        values = values_of(datatype, found)
    except OverflowError as error:
        raise MalformedBodyError(f"Tensor {name!r}: its data can't be converted to {datatype}: {error}.") from error
    check_count(name, shape, size, len(values))
    return Tensor(name, datatype, tuple(shape), values)


def check_count(name: str, shape: Sequence[int], size: int, count: int) -> None:
    """Raise MalformedBodyError where the number of values is not that of the shape."""
    if count != size:
        raise MalformedBodyError(f"Tensor {name!r}: expected {size} values of shape {list(shape)}, got {count}.")


def from_bytes(name: str, datatype: str, shape: Sequence[int], content: memoryview) -> Tensor:
    """Return a tensor from its values as bytes; raises MalformedBodyError."""
    size = size_of(name, datatype, shape)
    if datatype == TEXT:
        return Tensor(name, datatype, tuple(shape), _texts(name, size, content))
    dtype = np.dtype(CODES[datatype])
    if len(content) != size * dtype.itemsize:
        raise MalformedBodyError(
            f"Tensor {name!r}: expected {size * dtype.itemsize} bytes of {datatype} {list(shape)}, got {len(content)}."
        )
    if datatype == "BOOL" and any(byte > 1 for byte in content):
        raise MalformedBodyError(f"Tensor {name!r}: expected bytes 0 and 1, got others.")
    return Tensor(name, datatype, tuple(shape), _widened(np.frombuffer(content, dtype)))


def to_bytes(tensor: Tensor) -> bytes | memoryview:
    """Return the values as bytes, without a copy where they are contiguous."""
    if isinstance(tensor.values, tuple):
        texts = [text.encode() for text in tensor.values]
        return b"".join(chain.from_iterable((_LENGTH.pack(len(text)), text) for text in texts))
    return np.ascontiguousarray(tensor.values, CODES[tensor.datatype]).data.cast("B")


def values_of(datatype: str, found: Sequence[float] | Sequence[str]) -> Values:
    """Return flat values in the data type's representation; raises OverflowError for values out of range."""
    if datatype == TEXT:
        return tuple(map(str, found))
    with np.errstate(over="ignore"):
        values = np.array(found, CODES[datatype])
    if not np.isfinite(values).all():
        raise OverflowError("out of range")
    return _widened(values)


def _widened(values: Numbers) -> Numbers:
    """Return values in the widest type of their kind, which is lossless."""
    match values.dtype.kind:
        case "f":
            return values.astype(np.float64, copy=False)
        case "i":
            return values.astype(np.int64, copy=False)
        case "u":
            return values.astype(np.uint64, copy=False)
        case _:
            return values.astype(np.bool_, copy=False)


def _texts(name: str, size: int, content: memoryview) -> tuple[str, ...]:
    texts: list[str] = []
    place = 0
    while place < len(content) and len(texts) < size:
        if len(content) - place < _LENGTH.size:
            break
        (length,) = _LENGTH.unpack_from(content, place)
        first, place = place + _LENGTH.size, place + _LENGTH.size + length
        if place > len(content):
            break
        try:
            texts.append(str(content[first:place], "utf-8"))
        except UnicodeDecodeError as error:
            raise MalformedBodyError(f"Tensor {name!r}: text {len(texts)} is not UTF-8.") from error
    if len(texts) != size or place != len(content):
        raise MalformedBodyError(f"Tensor {name!r}: expected {size} texts with lengths in {len(content)} bytes.")
    return tuple(texts)


PIECE_BYTES = 131_072
"""The size of the chunks in which a longer list of numbers is decoded; a decoder holds the GIL."""

COUNTED_BYTES = 2**20
"""The number of bytes in which commas are counted at once."""

PIECE_VALUES = 8_192
"""The number of values that are encoded at once."""

_LISTS: Mapping[str, type[list[float]] | type[list[int]] | type[list[bool]] | type[list[str]]] = {
    "f": list[float],
    "i": list[int],
    "u": list[int],
    "b": list[bool],
    "S": list[str],
}
"""Decoders of flat lists in JSON, by the kind of their values."""

_INTEGERS = frozenset("iu")
"""Kinds of integers, whose values may be written as 3.0."""

_ROWS = msgspec.json.Decoder(list[list[float]])
_BETWEEN_ROWS = re.compile(rb"\s*(?:(,)\s*|\Z)")
_DECODERS = {kind: msgspec.json.Decoder(required) for kind, required in _LISTS.items()}


def from_json(
    name: str,
    datatype: str,
    shape: Sequence[int],
    data: bytes,
    *,
    yield_gil: Callable[[], None] = check_cancelled,
) -> Tensor:
    """Return a tensor from a JSON list, flat or nested by shape; raises MalformedBodyError."""
    size = size_of(name, datatype, shape)
    if datatype == HALF:
        raise MalformedBodyError(f"Tensor {name!r}: {HALF} is supported only in binary form.")
    kind = "S" if datatype == TEXT else np.dtype(CODES[datatype]).kind
    if len(data) > PIECE_BYTES and kind != "S" and (count := _count_flat(data)) is not None:
        check_count(name, shape, size, count)
        first, last = data.index(b"[") + 1, data.rindex(b"]")
        if (values := _in_pieces(datatype, data, first, last, size, yield_gil)) is not None:
            return Tensor(name, datatype, tuple(shape), values)
    is_long_matrix = len(data) > PIECE_BYTES and kind == "f" and len(shape) == 2 and 0 < size <= len(data)
    if is_long_matrix and (values := _rows_in_pieces(datatype, data.strip(), shape, yield_gil)) is not None:
        return Tensor(name, datatype, tuple(shape), values)
    try:
        found = _decoded(kind, shape, data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedBodyError(f"Tensor {name!r}: its data can't be converted to {datatype}: {error}.") from error
    return from_values(name, datatype, shape, found)


def from_part(
    name: str,
    datatype: str,
    shape: Sequence[int],
    body: bytes,
    first: int,
    last: int,
    *,
    yield_gil: Callable[[], None],
) -> Tensor | None:
    """Return a tensor from a flat list of numbers, whose brackets are before `first` and at `last` of a body.

    Returns None where the list is anything else; raises MalformedBodyError.
    """
    size = size_of(name, datatype, shape)
    # Counted before they are decoded, in chunks, since counting holds the GIL too.
    parts = range(first, last, COUNTED_BYTES)
    check_count(name, shape, size, 1 + sum(body.count(b",", part, min(part + COUNTED_BYTES, last)) for part in parts))
    values = _in_pieces(datatype, body, first, last, size, yield_gil)
    return None if values is None else Tensor(name, datatype, tuple(shape), values)


def to_json(tensor: Tensor, *, yield_gil: Callable[[], None] = check_cancelled) -> list[bytes]:
    """Return the flat values in JSON, of a long tensor in chunks; NaN is null."""
    values = tensor.values
    if len(values) <= PIECE_VALUES:
        return [orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY)]
    pieces: list[bytes] = []
    for first in range(0, len(values), PIECE_VALUES):
        piece = orjson.dumps(values[first : first + PIECE_VALUES], option=orjson.OPT_SERIALIZE_NUMPY)
        pieces += (b"," if pieces else b"[", piece[1:-1])
        yield_gil()
    return [*pieces, b"]"]


def _count_flat(data: bytes) -> int | None:
    """Return the number of values of a flat list of numbers, which is not decoded; None for anything else."""
    text = data.strip()
    is_flat = text.startswith(b"[") and text.endswith(b"]") and text.count(b"[") == 1
    return text.count(b",") + 1 if is_flat else None


def _in_pieces(
    datatype: str, text: bytes, start: int, end: int, size: int, yield_gil: Callable[[], None]
) -> Numbers | None:
    """Return the `size` values of a flat list of numbers between two positions of a text, decoded in chunks.

    Returns None where one of them is malformed. A decoder makes an object of each number, in one call during which
    nothing else in the process runs.
    """
    kind = np.dtype(CODES[datatype]).kind
    decoder, values = _DECODERS[kind], np.empty(size, np.dtype(WIDEST_TYPES[kind]))
    place = 0
    while start <= end:
        yield_gil()
        comma = text.find(b",", start + PIECE_BYTES, end)
        stop = end if comma < 0 else comma
        try:
            piece = values_of(datatype, decoder.decode(b"[%b]" % text[start:stop]))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError):
            return None
        if not 0 < len(piece) <= size - place:  # none: two successive commas, or one before the end
            return None
        values[place : place + len(piece)] = piece
        place, start = place + len(piece), stop + 1
    return values if place == size else None


def _rows_in_pieces(datatype: str, text: bytes, shape: Sequence[int], yield_gil: Callable[[], None]) -> Numbers | None:
    """Return the values of `shape[0]` lists of `shape[1]` numbers, decoded in chunks; None for anything else."""
    if not (text.startswith(b"[") and text.endswith(b"]")):
        return None
    values = np.empty(math.prod(shape))
    place, start, end, is_behind_comma = 0, 1, len(text) - 1, True
    while is_behind_comma:
        yield_gil()
        close = text.find(b"]", start + PIECE_BYTES, end)
        stop = end if close < 0 else close + 1
        try:
            rows = _ROWS.decode(b"[%b]" % text[start:stop])
            piece = values_of(datatype, [*chain.from_iterable(rows)])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError):
            return None
        between = _BETWEEN_ROWS.match(text, stop, end)
        if {*map(len, rows)} != {shape[1]} or place + len(piece) > len(values) or between is None:
            return None
        values[place : place + len(piece)] = piece
        place, start, is_behind_comma = place + len(piece), between.end(), between[1] == b","
    return values if place == len(values) and start == end else None


def _decoded(kind: str, shape: Sequence[int], data: bytes) -> Sequence[float] | Sequence[str]:
    """Return a decoded flat list; raises msgspec.DecodeError, RecursionError."""
    try:
        return _DECODERS[kind].decode(data)
    except msgspec.ValidationError:
        if len(shape) == 1 and kind not in _INTEGERS:
            raise
    found = _flat(shape, msgspec.json.decode(data))
    return msgspec.convert([as_integer(one) for one in found] if kind in _INTEGERS else found, _LISTS[kind])


def _flat(shape: Sequence[int], data: JSON) -> list[JSON]:
    """Return the values of a list that is nested by shape; raises msgspec.ValidationError for another nesting."""
    level = [data]
    for length in shape:
        inner: list[JSON] = []
        for one in level:
            if not isinstance(one, list) or len(one) != length:
                raise msgspec.ValidationError(f"neither flat nor nested as {list(shape)}")
            inner += one
        level = inner
    return level
