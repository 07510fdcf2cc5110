"""Small JSON bodies, read strictly and without converting anything."""

import json
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from app.api.formats.json_body import decode
from app.api.validation import faults_of
from app.domain.errors import InvalidRequestError, MalformedBodyError

T = TypeVar("T")


def read_strictly(adapter: TypeAdapter[T], body: bytes) -> T:
    """A body as the adapter's type; raises MalformedBodyError, InvalidDataError (NaN), InvalidRequestError."""
    return checked(adapter, decode(body))


def checked(adapter: TypeAdapter[T], value: object) -> T:
    """A JSON value as the adapter's type; raises InvalidRequestError, MalformedBodyError when nested without end."""
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
