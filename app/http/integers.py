"""Integers in JSON, which may be written as 3.0: JSON has one type of numbers."""

import copy
from collections.abc import Sequence
from itertools import islice

from pydantic import ValidationError

from app.http.validation import MAX_ENTRIES, place_of

MAX_EXACT = 2**53


def as_integer(value: object) -> object:
    """Return a float with an integral value as an integer, and anything else unchanged."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_EXACT:
        return int(value)
    return value


def with_integers(value: object, error: ValidationError) -> object | None:
    """Return a JSON value with integral floats as integers where `error` expects these; None without any."""
    entries = islice(error.errors(include_url=False, include_context=False), MAX_ENTRIES)
    expected = [entry for entry in entries if entry["type"] == "int_type" and isinstance(entry["input"], float)]
    places = [place_of(entry, value) for entry in expected if isinstance(as_integer(entry["input"]), int)]
    if not places:
        return None
    mended = copy.deepcopy(value)
    for *steps, last in places:
        _mend(mended, steps, last)
    return mended


def _mend(value: object, steps: Sequence[int | str], last: int | str) -> None:
    """Convert the place in each element of the lists along its path: pydantic may report only a list's first error."""
    if isinstance(value, list):
        if steps:
            for element in value:
                _mend(element, steps[1:], last)
        else:
            value[:] = map(as_integer, value)
    elif isinstance(value, dict):
        if steps:
            _mend(value.get(steps[0]), steps[1:], last)
        elif last in value:
            value[last] = as_integer(value[last])
