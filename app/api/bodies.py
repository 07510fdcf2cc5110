"""Small JSON bodies, read strictly and without converting anything."""

import json
from collections.abc import Collection
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from app.api.formats.json_body import decode
from app.api.validation import faults_of
from app.domain.errors import InvalidRequestError, MalformedBodyError

T = TypeVar("T")

MAX_MEMBERS = 1_000
"""Members of all objects in a small JSON body: a request, or the options of one."""

MAX_ELEMENTS = 50_000
"""Elements of all arrays in a small JSON body: some name each of a table's columns."""

MAX_DOCUMENT_MEMBERS = 100_000
"""Members of all objects in an exported version: each input is one, and there may be 10,000."""


def read_strictly(adapter: TypeAdapter[T], body: bytes) -> T:
    """A body as the adapter's type; raises MalformedBodyError, InvalidDataError (NaN), InvalidRequestError."""
    return checked(adapter, decode(body))


def checked(
    adapter: TypeAdapter[T], value: object, *, max_members: int = MAX_MEMBERS, max_elements: int | None = MAX_ELEMENTS
) -> T:
    """Return a JSON value as the adapter's type; raises InvalidRequestError, MalformedBodyError for too deep a nesting.

    pydantic lists everything that is wrong, which takes more memory than what was sent: what has more members of
    objects or elements of arrays than may be is refused before.
    """
    _check_size(value, max_members, max_elements)
    try:
        # From text again, because only there strictness knows that JSON has neither UUIDs nor tuples.
        return adapter.validate_json(json.dumps(value, allow_nan=False), strict=True)
    except ValidationError as error:
        if any(entry["type"] == "json_invalid" for entry in error.errors(include_url=False)):
            raise MalformedBodyError("The body is nested too deeply.") from error
        faults = faults_of(error, value)
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        detail = f"At {faults[0].pointer}: {faults[0].detail}" if faults[0].pointer else faults[0].detail
        raise InvalidRequestError(f"{detail.removesuffix('.')}{more}.", faults) from error


def _check_size(value: object, max_members: int, max_elements: int | None) -> None:
    """Raise InvalidRequestError for a JSON value of too many parts; a list of numbers is not looked into."""
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
