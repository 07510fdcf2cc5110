"""Points in time are read from ISO 8601 with an offset, and from nothing else."""

from datetime import UTC, datetime

import pytest
from pydantic import TypeAdapter, ValidationError

from app.http.timestamps import Timestamp

TIMESTAMP: TypeAdapter[datetime] = TypeAdapter(Timestamp)


@pytest.mark.parametrize("text", ["2026-01-31T12:00:00Z", "2026-01-31t13:00:00+01:00", "2026-01-31 12:00:00.000Z"])
def test_a_date_with_a_time_and_an_offset_is_a_time_in_utc(text: str) -> None:
    for read in (TIMESTAMP.validate_python(text), TIMESTAMP.validate_json(f'"{text}"', strict=True)):
        assert read == datetime(2026, 1, 31, 12, tzinfo=UTC)
        assert read.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    ['"0.5"', '"1769860800"', "1769860800", "0.5", '"2026-01-31"', '"2026-01-31T12:00:00"', '"0001-01-01T00:00+01:00"'],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        TIMESTAMP.validate_json(text, strict=True)
    with pytest.raises(ValidationError):
        TIMESTAMP.validate_json(text)
