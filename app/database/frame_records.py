"""Frozen dataclasses as JSON with references to arrays, and back, driven by their annotations.

A dataclass becomes an object of its fields, an array {"array": its position}, a tuple a list; other values are stored
as they are. An annotation names at most one dataclass, so that no type tag is needed.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import get_args, get_type_hints

import numpy as np

from app.database.frame import Arrays, Json, Stored, UnreadableBytesError


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
