"""Small JSON bodies, read strictly and without converting anything."""

import json
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from app.formats.cell_faults import MAX_FAULTS
from app.formats.json_body import decode
from app.formats.json_scan import check_containers, check_members
from app.http.integers import with_integers
from app.http.validation import MAX_ENTRIES, faults_of
from relevance_bayes.types.errors import Fault, InvalidRequestError, pointer

T = TypeVar("T")

_NUL = "\\u0000"
"""As JSON escapes the character; a backslash before the same letters looks alike."""

MAX_MEMBERS = 1_000
"""Members of all objects in a small JSON body: a request, or the options of one."""

MAX_DECODED_MEMBERS = 250_000
"""Members of one object in a body that is decoded, a tenth of a second, to say what is wrong with it."""

MAX_ELEMENTS = 50_000
"""Elements of all arrays in a small JSON body: some name each of a table's columns."""

MAX_MENDED = 100
"""Times that a body is validated anew after integers written as 3.0 became integers: a few for each list."""

MAX_DOCUMENT_MEMBERS = 100_000
"""Members of all objects in an exported version: each input is one, and there may be 10,000."""


def read_strictly(adapter: TypeAdapter[T], body: bytes) -> T:
    """A body as the adapter's type.

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

    An integer may be written as 3.0, since JSON has one type of numbers; not where a query has it, `is_json` False.

    pydantic lists everything that is wrong, which takes more memory than what was sent: what has more members of
    objects or elements of arrays than may be is refused before.
    """
    _check_size(value, max_members, max_elements)
    # From text again, because only there strictness knows that JSON has neither UUIDs nor tuples.
    text = json.dumps(value, allow_nan=False)
    if _NUL in text:
        _refuse_nul(value)
    for _ in range(MAX_MENDED):  # of a list's errors pydantic may tell the first alone
        try:
            return adapter.validate_json(text, strict=True)
        except ValidationError as error:
            mended = with_integers(value, error) if is_json else None
            if mended is None:
                faults = faults_of(error, value)
                raise InvalidRequestError(_summary(faults, error.error_count()), faults) from error
        value, text = mended, json.dumps(mended)
    raise InvalidRequestError("Too many integers are written with a decimal point.")


def _summary(faults: Sequence[Fault], n_errors: int) -> str:
    """Say the first fault and how many places there are; above what is shown, the number of pydantic's errors."""
    found = n_errors if n_errors > MAX_ENTRIES else len(faults)
    more = f" (and {found - 1:,} more)" if found > 1 else ""
    detail = f"At {faults[0].pointer}: {faults[0].detail}" if faults[0].pointer else faults[0].detail
    return f"{detail.removesuffix('.')}{more}."


def _refuse_nul(value: object) -> None:
    """Raise InvalidRequestError where a text or a key in a JSON value holds NUL, which PostgreSQL does not store."""
    faults = [Fault("A text holds the character NUL.", place) for place in islice(_places_of_nul(value), MAX_FAULTS)]
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
