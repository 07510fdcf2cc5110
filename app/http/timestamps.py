"""Points in time in requests: ISO 8601 with an offset, as OpenAPI's `date-time` is."""

import re
from datetime import UTC, datetime
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, AwareDatetime, BeforeValidator
from pydantic_core import PydanticCustomError

_DATE_AND_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]")


def _parsed(value: object) -> object:
    """Return the time of a text; pydantic itself would take a number, in a text too, for Unix seconds."""
    if not (isinstance(value, str) and _DATE_AND_TIME.match(value)):
        raise _not_a_time()
    try:
        return datetime.fromisoformat(value.upper())
    except ValueError as error:
        raise _not_a_time() from error


def _not_a_time() -> PydanticCustomError:
    return PydanticCustomError("time", "Expected a time as in 2026-01-31T12:00:00Z.")


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError as error:
        raise PydanticCustomError("time", "Expected a time from the year 1 to 9999 in UTC.") from error


Timestamp: TypeAlias = Annotated[AwareDatetime, BeforeValidator(_parsed), AfterValidator(_in_utc)]
