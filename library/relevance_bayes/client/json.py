"""JSON of requests and responses."""

import json
import math

from relevance_bayes.types.records import Converter, T, encode


def dumps(value: object) -> str:
    """Return a value as JSON, records by the names of their members; numbers that are not finite as null.

    Raises TypeError for a value without a JSON form, ValueError for a circular reference.
    """
    try:
        return _dumps(value)
    except ValueError:
        return _dumps(_finite(value))


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)


def _plain(value: object) -> object:
    plain = encode(value)
    if plain is value:
        raise TypeError(f"{type(value).__name__} has no JSON form")
    return plain


def _finite(value: object) -> object:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {name: _finite(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_finite(inner) for inner in value]
        case _:
            return value


def read(text: bytes | str, converter: Converter[T]) -> T:
    """Return the record in a JSON text. Raises ValueError for malformed JSON, InvalidRequestError for others."""
    try:
        value: object = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return converter.decode(value)
