"""Tensors of the protocol: data types, and their values as bytes.

Bytes are little-endian, without padding, in C order; a string (BYTES) is preceded by its length in four bytes.
"""

import math
import struct
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.errors import MalformedBodyError

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
