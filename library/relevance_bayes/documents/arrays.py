"""The arrays of a document separated from its JSON, for archives and the database.

In place of an array is {"array": name}; its name is its path, as in `model/members/0/mean`.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.documents.parts import Part
from relevance_bayes.types.records import encode

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | dict[str, Json] | None"
Stored: TypeAlias = NDArray[np.float64] | NDArray[np.int64]

_HOLDERS = frozenset({dict, list})


def extract_arrays(document: Part) -> tuple[Json, dict[str, Stored]]:
    """Return the JSON of a document without the arrays of its model, and these by name: `<f8`, or `<i8` for indices."""
    arrays: dict[str, Stored] = {}
    return _apart(encode(document), "", arrays), arrays


def _apart(value: object, name: str, arrays: dict[str, Stored]) -> Json:
    match value:
        case bool() | int() | float() | str() | None:
            return value
        case np.ndarray() if value.size:
            arrays[name] = value.astype("<i8" if value.dtype.kind == "i" else "<f8", order="C", copy=False)
            return {"array": name}
        case np.ndarray():
            empty: Json = value.tolist()
            return empty
        case dict():
            below = f"{name}/" if name else ""
            return {member: _apart(inner, f"{below}{member}", arrays) for member, inner in value.items()}
        case list():
            return [_apart(inner, f"{name}/{place}", arrays) for place, inner in enumerate(value)]
    raise TypeError(f"expected arrays and JSON, got {type(value).__name__}")


def restore_arrays(value: object, arrays: Mapping[str, Stored]) -> object:
    """Return the document that `extract_arrays` separated; raises KeyError for a missing array."""
    if isinstance(value, dict):
        if isinstance(name := value.get("array"), str):
            return arrays[name]
        return {
            member: restore_arrays(inner, arrays) if type(inner) in _HOLDERS else inner
            for member, inner in value.items()
        }
    return [restore_arrays(inner, arrays) for inner in value] if isinstance(value, list) else value
