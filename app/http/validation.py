"""Validation errors of pydantic as faults with JSON pointers into the request."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from relevance_bayes.types.errors import Fault

Location = Sequence[int | str]

MAX_SHOWN = 60
"""The maximum number of characters of a value that a message repeats."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)

MAX_ENTRIES = 1_000
"""The maximum number of pydantic's errors that are turned into faults."""

AT = "at "
"""The prefix of an error type of our own; the rest of the type is the member that the error is about."""


def faults_of(error: ValidationError, sent: object) -> tuple[Fault, ...]:
    """Return one fault for each invalid place in `sent`, a JSON value.

    The time is linear in the number of errors, of which the first `MAX_ENTRIES` count.
    """
    details: dict[str, dict[str, bool]] = {}
    for entry in islice(error.errors(include_url=False, include_context=True), MAX_ENTRIES):
        place = "".join(f"/{_escaped(step)}" for step in place_of(entry, sent))
        details.setdefault(place, {})[_what(entry)] = _is_of_another_kind(entry)
    # pydantic reports an error of a list as well where one of its items is invalid.
    parents = _parents(details)
    return tuple(
        Fault(" Or: ".join(_apt(given)), pointer=pointer)
        for pointer, given in details.items()
        if pointer not in parents
    )


def _parents(pointers: Iterable[str]) -> set[str]:
    """Return the pointers to all containers of the given places."""
    parents: set[str] = set()
    for pointer in pointers:
        parent = pointer
        while parent:
            parent = parent.rpartition("/")[0]
            if parent in parents:
                break
            parents.add(parent)
    return parents


def _is_of_another_kind(entry: ErrorDetails) -> bool:
    """Return whether a value has another type than expected, or is not the one allowed literal."""
    return entry["type"].endswith(("_type", "_parsing")) or entry["type"] == "literal_error"


def _apt(given: Mapping[str, bool]) -> list[str]:
    """Return the messages for a place: of several alternatives, those whose type the value has, if there is one."""
    apt = [detail for detail, of_another_kind in given.items() if not of_another_kind]
    return apt or [*given]


def place_of(entry: ErrorDetails, sent: object) -> Location:
    """Return the location of an error without the names of union members that pydantic inserts.

    Where such a name is also a field's, the value that pydantic reports as input decides.
    """
    kind, location = entry["type"], entry["loc"]
    absent = kind == "missing"
    inside = location[:-1] if absent else location
    readings = [steps for steps, value in _readings(inside, sent) if value == entry["input"]]
    steps = readings[0] if readings else tuple(inside)
    if absent:
        return (*steps, location[-1])
    if kind.startswith(AT):
        return (*steps, kind.removeprefix(AT))
    if kind in {"union_tag_invalid", "union_tag_not_found"}:
        discriminator = entry.get("ctx", {}).get("discriminator")
        return (*steps, str(discriminator).strip("'()")) if discriminator else steps
    return steps


def _readings(location: Location, value: object) -> Iterator[tuple[tuple[int | str, ...], object]]:
    """Yield every way to follow `location` down from `value`: each part is a step, or is skipped as a union member's
    name."""
    if not location:
        yield (), value
        return
    step, rest = location[0], location[1:]
    if isinstance(value, dict) and step in value:
        yield from (((step, *steps), end) for steps, end in _readings(rest, value[step]))
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        yield from (((step, *steps), end) for steps, end in _readings(rest, value[step]))
    if isinstance(step, str):
        yield from _readings(rest, value)


def _what(entry: ErrorDetails) -> str:
    context = entry.get("ctx", {})
    match entry["type"]:
        case "missing":
            return "This member is required."
        case "unexpected_keyword_argument" | "extra_forbidden":
            return f"The member {str(entry['loc'][-1])!r} is unknown."
        case "union_tag_invalid":
            return f"Expected one of {context['expected_tags']}, got {context['tag']!r}."
        case "union_tag_not_found":
            return "This member is required: it selects one of the alternatives."
        case "dataclass_type" | "dict_type" | "model_type" | "model_attributes_type":
            return f"Should be an object, got {_shown(entry['input'])}."
        case "uuid_type":
            return f"Should be a UUID as text, got {_shown(entry['input'])}."
        case "too_short":
            return f"Expected at least {context['min_length']}, got {context['actual_length']}."
        case kind if kind.startswith(AT):
            return entry["msg"]
        case _:
            given = re.sub(r"^\w+ should ", "Should ", entry["msg"])
            return f"{given}, got {_shown(entry['input'])}."


def _shown(value: object) -> str:
    """Return a value as JSON, truncated to the maximum that is shown."""
    text = ""
    for piece in _ENCODER.iterencode(value):
        text += piece[: MAX_SHOWN + 1]
        if len(text) > MAX_SHOWN:
            return f"{text[: MAX_SHOWN - 3]}..."
    return text


def _escaped(step: int | str) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")
