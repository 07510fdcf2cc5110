"""Small JSON bodies, parsed strictly: no value is converted."""

import json
from collections.abc import Collection, Iterator
from itertools import islice
from typing import TypeVar

from pydantic import TypeAdapter

from app.formats.cells import MAX_FAULTS
from app.formats.json_body import check_containers, check_members, decode
from relevance_bayes.records.errors import Fault, InvalidRequestError, pointer
from relevance_bayes.records.json import validate

T = TypeVar("T")

_NUL = "\\u0000"
"""The escape of NUL in JSON. A backslash before the same letters matches too, so a match is checked again."""

MAX_MEMBERS = 1_000
"""The maximum number of members of all objects in a small JSON body."""

MAX_DECODED_MEMBERS = 250_000
"""The maximum number of members of one object in a body that is decoded; more take over a tenth of a second."""

MAX_ELEMENTS = 50_000
"""The maximum number of elements of all arrays in a small JSON body, which may list the columns of a table."""

MAX_DOCUMENT_MEMBERS = 100_000
"""The maximum number of members of all objects in an exported version: one an input, of which 10,000 are allowed."""


def read_strictly(adapter: TypeAdapter[T], body: bytes) -> T:
    """Return a body as the adapter's type.

    Raises MalformedBodyError, InvalidDataError (NaN), InvalidRequestError, TooLargeError.
    """
    check_containers(body, 1 + MAX_MEMBERS + MAX_ELEMENTS)  # each but the outermost is a member or an element
    check_members(body, MAX_DECODED_MEMBERS)
    return checked(adapter, decode(body))


def checked(
    adapter: TypeAdapter[T],
    value: object,
    *,
    max_members: int = MAX_MEMBERS,
    max_elements: int | None = MAX_ELEMENTS,
    is_json: bool = True,
) -> T:
    """Return a JSON value as the adapter's type; raises InvalidRequestError.

    With `is_json`, an integer may be written as 3.0, since JSON has one type of numbers; query parameters may not.

    The size is checked first: pydantic lists every error, which can take more memory than the value itself.
    """
    _check_size(value, max_members, max_elements)
    if _NUL in json.dumps(value, allow_nan=False):
        _refuse_nul(value)
    return validate(adapter, value, converts_integers=is_json)


def _refuse_nul(value: object) -> None:
    """Raise InvalidRequestError where a string or key of a JSON value contains NUL, which PostgreSQL can't store."""
    faults = [Fault("The text contains NUL.", place) for place in islice(_places_of_nul(value), MAX_FAULTS)]
    if faults:
        raise InvalidRequestError(f"At {faults[0].pointer}: {faults[0].detail}", faults)


def _places_of_nul(value: object) -> Iterator[str]:
    pending: list[tuple[tuple[str | int, ...], object]] = [((), value)]
    while pending:
        path, part = pending.pop()
        if isinstance(part, str) and "\0" in part:
            yield pointer(path)
        elif isinstance(part, dict):
            yield from (pointer((*path, key)) for key in part if "\0" in key)
            pending.extend(((*path, key), inner) for key, inner in part.items() if isinstance(inner, str | dict | list))
        elif isinstance(part, list):
            pending.extend(((*path, n), inner) for n, inner in enumerate(part) if isinstance(inner, str | dict | list))


def _check_size(value: object, max_members: int, max_elements: int | None) -> None:
    """Raise InvalidRequestError for a JSON value with too many members or elements."""
    members = elements = 0
    pending = [value]
    while pending:
        container = pending.pop()
        if isinstance(container, dict):
            members += len(container)
            inner: Collection[object] = container.values()
        elif isinstance(container, list):
            elements += len(container)
            inner = container
        else:
            continue
        if members > max_members:
            raise InvalidRequestError(f"Expected at most {max_members:,} members of objects, got more.")
        if max_elements is not None and elements > max_elements:
            raise InvalidRequestError(f"Expected at most {max_elements:,} elements of arrays, got more.")
        pending.extend(part for part in inner if isinstance(part, dict | list))
