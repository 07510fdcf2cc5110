"""Integers in JSON, which may be written as 3.0: JSON has one type of numbers."""

import copy
from itertools import islice

from pydantic import ValidationError

from app.api.validation import MAX_ENTRIES, place_of

MAX_EXACT = 2**53


def as_integer(value: object) -> object:
    """Return a float that is a whole number as an integer, and anything else as it is."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_EXACT:
        return int(value)
    return value


def with_integers(value: object, error: ValidationError) -> object | None:
    """Return a JSON value in which whole numbers are integers where `error` expects these; None where none is."""
    entries = islice(error.errors(include_url=False, include_context=False), MAX_ENTRIES)
    expected = [entry for entry in entries if entry["type"] == "int_type" and isinstance(entry["input"], float)]
    places = [place_of(entry, value) for entry in expected if isinstance(as_integer(entry["input"]), int)]
    if not places:
        return None
    mended = copy.deepcopy(value)
    for *steps, last in places:
        _mend(mended, steps, last)
    return mended


def _mend(value: object, steps: list[int | str], last: int | str) -> None:
    """Of a list all elements, since of its faults only the first may be known."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int):
            value = value[step]
    if isinstance(value, list):
        value[:] = map(as_integer, value)
    elif isinstance(value, dict) and last in value:
        value[last] = as_integer(value[last])
