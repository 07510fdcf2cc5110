"""Trees of frozen dataclasses as JSON with references to arrays, and back.

A dataclass becomes {"record": its name, "fields": {...}}, an array {"array": its position}, a tuple a list; all else is
JSON already. Only classes that the roots' annotations lead to are ever made; a field with a default may be missing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import get_args, get_type_hints

import numpy as np

from app.storage.codec.frame import Arrays, Json, Stored, UnreadableBytesError


def pack(value: object, arrays: list[Stored]) -> Json:
    """The JSON of a value; appends the arrays in it. Raises TypeError for what has no place in a record."""
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
        packed = {field.name: pack(getattr(value, field.name), arrays) for field in fields(value)}
        return {"record": type(value).__name__, "fields": packed}
    raise TypeError(f"expected records, tuples, arrays and plain values, got {type(value).__name__}")


NONE: Mapping[str, str] = {}


@dataclass(frozen=True)
class Reader:
    """Makes records of the classes that it knows by name."""

    classes: Mapping[str, type[object]]

    def unpack(self, packed: Json, arrays: Arrays) -> object:
        """The value of what `pack` made; raises UnreadableBytesError."""
        match packed:
            case {"array": int(number)}:
                return arrays.real(number) if arrays.dtype(number) == "<f8" else arrays.indices(number)
            case {"record": str(name), "fields": dict(values)}:
                return self._record(name, {field: self.unpack(value, arrays) for field, value in values.items()})
            case list():
                return tuple(self.unpack(item, arrays) for item in packed)
            case bool() | int() | float() | str() | None:
                return packed
        raise UnreadableBytesError("expected a record, an array, a list or a plain value")

    def _record(self, name: str, values: Mapping[str, object]) -> object:
        if name not in self.classes:
            raise UnreadableBytesError(f"expected one of {', '.join(sorted(self.classes))}, got {name!r}")
        try:
            return self.classes[name](**values)
        except TypeError as error:
            raise UnreadableBytesError(f"expected the fields of {name}, got {', '.join(sorted(values))}") from error


def reader_of(*roots: type[object], renamed: Mapping[str, str] = NONE) -> Reader:
    """A reader of all the dataclasses that the annotations of `roots` lead to, these included.

    `renamed` are names under which some were written before, and those that they have now.
    """
    found: dict[str, type[object]] = {}
    waiting = list(roots)
    while waiting:
        kind = waiting.pop()
        if is_dataclass(kind) and kind.__name__ not in found:
            found[kind.__name__] = kind
            hints = get_type_hints(kind)
            waiting += [named for field in fields(kind) for named in _named(hints[field.name])]
    return Reader(found | {before: found[now] for before, now in renamed.items()})


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
