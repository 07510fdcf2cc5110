"""Values that documents must not contain: numbers that are not finite or too large, texts with NUL."""

import math
from collections.abc import Iterator

from relevance_bayes.documents.former_members import Json, Members
from relevance_bayes.types.errors import Fault, pointer

MAX_TEXT_LENGTH = 100_000
MAX_INTEGER = 2**63 - 1


def value_faults(value: object, where: str) -> Iterator[Fault]:
    """Yield a fault for each value that can't be stored, with its place below `where`."""
    match value:
        case float() if not math.isfinite(value):
            yield Fault("Expected a finite number.", where)
        case int() if abs(value) > MAX_INTEGER:
            yield Fault(f"Expected an integer of at most {MAX_INTEGER} in magnitude.", where)
        case str() if "\0" in value or len(value) > MAX_TEXT_LENGTH:
            yield Fault(f"Expected a text of at most {MAX_TEXT_LENGTH:,} characters without NUL.", where)
        case list():
            for place, one in enumerate(value):
                yield from value_faults(one, f"{where}/{place}")
        case dict():
            for name, one in value.items():
                if "\0" in name or len(name) > MAX_TEXT_LENGTH:
                    yield Fault("Expected members without NUL in their names.", where)
                yield from value_faults(one, f"{where}{pointer((name[:MAX_TEXT_LENGTH],))}")
        case _:
            pass


def json_members(value: object) -> Members:
    """Return the members of an object as plain JSON; empty for anything else."""
    found = _json(value)
    return found if isinstance(found, dict) else {}


def _json(value: object) -> Json:
    match value:
        case bool() | int() | float() | str() | None:
            return value
        case list():
            return [_json(one) for one in value]
        case dict():
            return {str(name): _json(one) for name, one in value.items()}
    raise TypeError(f"expected JSON, got {type(value).__name__}")
