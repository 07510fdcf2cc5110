"""Tensors of the protocol: data types, and their values in JSON and in bytes.

Bytes are little-endian, without padding, the last axis running fastest; a text (BYTES) is its length in four bytes and
itself.
"""

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
import orjson
from numpy.typing import NDArray

from app.api.integers import as_integer
from app.domain.cancellation import check_cancelled
from app.domain.errors import MalformedBodyError
from app.formats.cells import JSON

Numbers: TypeAlias = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.uint64] | NDArray[np.bool_]
Values: TypeAlias = Numbers | tuple[str, ...]
"""Of a tensor, one after the other: numbers, or texts."""

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
"""The numbers of each data type, as numpy names them."""

FLOATS = frozenset({"FP32", "FP64"})
"""Those whose values JSON has as it has all numbers."""

DATATYPES = (*CODES, TEXT)
MAX_AXES = 8

PIECE_BYTES = 131_072
"""Of a longer list of numbers in JSON, decoded at once: others run after each piece, since a decoder holds the GIL."""

COUNTED_BYTES = 2**20

PIECE_VALUES = 8_192
"""The same of numbers that are written in JSON."""

_LENGTH = struct.Struct("<I")
_LISTS: Mapping[str, type[list[float]] | type[list[int]] | type[list[bool]] | type[list[str]]] = {
    "f": list[float],
    "i": list[int],
    "u": list[int],
    "b": list[bool],
    "S": list[str],
}
"""What a flat list in JSON is, by the kind of its values."""

_INTEGERS = frozenset("iu")
"""Kinds whose values may be written as 3.0."""

_WIDEST = {"f": "=f8", "i": "=i8", "u": "=u8", "b": "?"}
"""The type in which numbers of each kind are kept."""

_DECODERS = {kind: msgspec.json.Decoder(wanted) for kind, wanted in _LISTS.items()}


class Tensor(NamedTuple):
    """A named tensor: `values` are as many as its `shape` has places."""

    name: str
    datatype: str
    shape: tuple[int, ...]
    values: Values


def size_of(name: str, datatype: str, shape: Sequence[int]) -> int:
    """How many values a tensor has; raises MalformedBodyError for what no tensor is."""
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


def from_json(
    name: str,
    datatype: str,
    shape: Sequence[int],
    data: bytes,
    *,
    yield_gil: Callable[[], None] = check_cancelled,
) -> Tensor:
    """A tensor whose values are a list in JSON, flat or nested as the shape is; raises MalformedBodyError."""
    size = size_of(name, datatype, shape)
    if datatype == HALF:
        raise MalformedBodyError(f"Tensor {name!r}: {HALF} comes in binary form alone.")
    kind = "S" if datatype == TEXT else np.dtype(CODES[datatype]).kind
    if len(data) > PIECE_BYTES and kind != "S" and (count := _count_flat(data)) is not None:
        check_count(name, shape, size, count)
        first, last = data.index(b"[") + 1, data.rindex(b"]")
        if (values := _in_pieces(datatype, data, first, last, size, yield_gil)) is not None:
            return Tensor(name, datatype, tuple(shape), values)
    try:
        found = _decoded(kind, shape, data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedBodyError(f"Tensor {name!r}: its data can't be read as {datatype}: {error}.") from error
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
    """A tensor whose values are a flat list of numbers, whose brackets stand before `first` and at `last` of a body.

    None where they are anything else; raises MalformedBodyError.
    """
    size = size_of(name, datatype, shape)
    # Counted before they are decoded, a part at a time, since counting holds the GIL too.
    parts = range(first, last, COUNTED_BYTES)
    check_count(name, shape, size, 1 + sum(body.count(b",", part, min(part + COUNTED_BYTES, last)) for part in parts))
    values = _in_pieces(datatype, body, first, last, size, yield_gil)
    return None if values is None else Tensor(name, datatype, tuple(shape), values)


def from_values(name: str, datatype: str, shape: Sequence[int], found: Sequence[float] | Sequence[str]) -> Tensor:
    """A tensor of these values, flat; raises MalformedBodyError."""
    size = size_of(name, datatype, shape)
    try:
        values = _values(datatype, found)
    except OverflowError as error:
        raise MalformedBodyError(f"Tensor {name!r}: its data can't be read as {datatype}: {error}.") from error
    check_count(name, shape, size, len(values))
    return Tensor(name, datatype, tuple(shape), values)


def check_count(name: str, shape: Sequence[int], size: int, count: int) -> None:
    """Raise MalformedBodyError where a tensor of a shape with `size` places has not as many values."""
    if count != size:
        raise MalformedBodyError(f"Tensor {name!r}: shape {list(shape)} has {size} values, got {count}.")


def from_bytes(name: str, datatype: str, shape: Sequence[int], content: memoryview) -> Tensor:
    """A tensor whose values are bytes; raises MalformedBodyError."""
    size = size_of(name, datatype, shape)
    if datatype == TEXT:
        return Tensor(name, datatype, tuple(shape), _texts(name, size, content))
    dtype = np.dtype(CODES[datatype])
    if len(content) != size * dtype.itemsize:
        raise MalformedBodyError(
            f"Tensor {name!r}: {datatype} of shape {list(shape)} has {size * dtype.itemsize} bytes, got {len(content)}."
        )
    if datatype == "BOOL" and any(byte > 1 for byte in content):
        raise MalformedBodyError(f"Tensor {name!r}: expected bytes 0 and 1.")
    return Tensor(name, datatype, tuple(shape), _widened(np.frombuffer(content, dtype)))


def to_json(tensor: Tensor, *, yield_gil: Callable[[], None] = check_cancelled) -> list[bytes]:
    """The values, flat, in JSON, of a long tensor in pieces; NaN is null."""
    values = tensor.values
    if len(values) <= PIECE_VALUES:
        return [orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY)]
    pieces: list[bytes] = []
    for first in range(0, len(values), PIECE_VALUES):
        piece = orjson.dumps(values[first : first + PIECE_VALUES], option=orjson.OPT_SERIALIZE_NUMPY)
        pieces += (b"," if pieces else b"[", piece[1:-1])
        yield_gil()
    return [*pieces, b"]"]


def to_bytes(tensor: Tensor) -> bytes | memoryview:
    """The values as bytes, without a copy where they stand in memory so."""
    if isinstance(tensor.values, tuple):
        texts = [text.encode() for text in tensor.values]
        return b"".join(chain.from_iterable((_LENGTH.pack(len(text)), text) for text in texts))
    return np.ascontiguousarray(tensor.values, CODES[tensor.datatype]).data.cast("B")


def _count_flat(data: bytes) -> int | None:
    """The number of values of a flat list of numbers, which is not decoded; None for all else."""
    text = data.strip()
    is_flat = text.startswith(b"[") and text.endswith(b"]") and text.count(b"[") == 1
    return text.count(b",") + 1 if is_flat else None


def _in_pieces(
    datatype: str, text: bytes, start: int, end: int, size: int, yield_gil: Callable[[], None]
) -> Numbers | None:
    """The `size` values of a flat list of numbers between two places of a text, decoded piece by piece.

    None where one of them is broken. A decoder makes an object of each number, in one call during which nothing else in
    the process runs.
    """
    kind = np.dtype(CODES[datatype]).kind
    decoder, values = _DECODERS[kind], np.empty(size, np.dtype(_WIDEST[kind]))
    place = 0
    while start <= end:
        yield_gil()
        comma = text.find(b",", start + PIECE_BYTES, end)
        stop = end if comma < 0 else comma
        try:
            piece = _values(datatype, decoder.decode(b"[%b]" % text[start:stop]))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError):
            return None
        if not 0 < len(piece) <= size - place:  # none: two commas in succession, or one before the end
            return None
        values[place : place + len(piece)] = piece
        place, start = place + len(piece), stop + 1
    return values if place == size else None


def _decoded(kind: str, shape: Sequence[int], data: bytes) -> Sequence[float] | Sequence[str]:
    """A flat list; raises msgspec.DecodeError, RecursionError."""
    try:
        return _DECODERS[kind].decode(data)
    except msgspec.ValidationError:
        if len(shape) == 1 and kind not in _INTEGERS:
            raise
    found = _flat(shape, msgspec.json.decode(data))
    return msgspec.convert([as_integer(one) for one in found] if kind in _INTEGERS else found, _LISTS[kind])


def _flat(shape: Sequence[int], data: JSON) -> list[JSON]:
    """The values of a list that is nested as the shape is; raises msgspec.ValidationError where it is not."""
    level = [data]
    for length in shape:
        inner: list[JSON] = []
        for one in level:
            if not isinstance(one, list) or len(one) != length:
                raise msgspec.ValidationError(f"neither flat nor nested as {list(shape)}")
            inner += one
        level = inner
    return level


def _values(datatype: str, found: Sequence[float] | Sequence[str]) -> Values:
    """Raises OverflowError for what the data type can't hold."""
    if datatype == TEXT:
        return tuple(map(str, found))
    with np.errstate(over="ignore"):
        values = np.array(found, CODES[datatype])
    if not np.isfinite(values).all():
        raise OverflowError("out of range")
    return _widened(values)


def _widened(values: Numbers) -> Numbers:
    """In the widest type of their kind, which loses nothing."""
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
        raise MalformedBodyError(f"Tensor {name!r}: its {len(content)} bytes are not {size} texts with their lengths.")
    return tuple(texts)
