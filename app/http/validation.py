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
"""Characters of a value that a message repeats."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)

MAX_ENTRIES = 1_000
"""Errors of pydantic that are turned into faults; nobody reads more."""

AT = "at "
"""An error of our own whose type is this and the name of a member speaks of that member."""


def faults_of(error: ValidationError, sent: object) -> tuple[Fault, ...]:
    """Return one fault for each place in `sent` (a JSON value) with which something is wrong.

    The time is linear in the number of errors, of which the first `MAX_ENTRIES` count.
    """
    details: dict[str, dict[str, bool]] = {}
    for entry in islice(error.errors(include_url=False, include_context=True), MAX_ENTRIES):
        place = "".join(f"/{_escaped(step)}" for step in place_of(entry, sent))
        details.setdefault(place, {})[_what(entry)] = _is_of_another_kind(entry)
    # What is wrong with the members of a list makes pydantic find fault with the list as well.
    parents = _parents(details)
    return tuple(
        Fault(" Or: ".join(_apt(given)), pointer=pointer)
        for pointer, given in details.items()
        if pointer not in parents
    )


def _parents(pointers: Iterable[str]) -> set[str]:
    """Return the pointers to everything that holds one of the places pointed to."""
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
    """Return whether a value has not the type that was looked for, or is not the one word that would do."""
    return entry["type"].endswith(("_type", "_parsing")) or entry["type"] == "literal_error"


def _apt(given: Mapping[str, bool]) -> list[str]:
    """Return what is said of a place: of several alternatives, by those whose kind the value is of, if there is one."""
    apt = [detail for detail, of_another_kind in given.items() if not of_another_kind]
    return apt or [*given]


def place_of(entry: ErrorDetails, sent: object) -> Location:
    """The place an entry speaks of, without the names of union members that pydantic puts between.

    Where a member's name is also a field's, the value that pydantic says it met decides.
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
    """Every way to walk `location` down from `value`: each step is taken, or passed over as a union member's name."""
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
            return f"There is no member {str(entry['loc'][-1])!r} here."
        case "union_tag_invalid":
            return f"{context['tag']!r} is none of {context['expected_tags']}."
        case "union_tag_not_found":
            return "This member is required: it says which of the alternatives is meant."
        case "dataclass_type" | "dict_type" | "model_type" | "model_attributes_type":
            return f"Should be an object, got {_shown(entry['input'])}."
        case "uuid_type":
            return f"Should be a UUID as text, got {_shown(entry['input'])}."
        case "too_short":
            return f"Needs {context['min_length']} at least, got {context['actual_length']}."
        case kind if kind.startswith(AT):
            return entry["msg"]
        case _:
            given = re.sub(r"^\w+ should ", "Should ", entry["msg"])
            return f"{given}, got {_shown(entry['input'])}."


def _shown(value: object) -> str:
    """Return a value as JSON, of which no more is written than is shown."""
    text = ""
    for piece in _ENCODER.iterencode(value):
        text += piece[: MAX_SHOWN + 1]
        if len(text) > MAX_SHOWN:
            return f"{text[: MAX_SHOWN - 3]}..."
    return text


def _escaped(step: int | str) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")
