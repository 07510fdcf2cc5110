"""The bytes that a request selects."""

import pytest
from starlette.datastructures import Headers

from app.http.ranges import ByteRange, UnsatisfiableRange, requested_range

TAG = '"abc"'


def requested(text: str, *, size: int = 100, if_range: str | None = None) -> ByteRange | UnsatisfiableRange | None:
    headers = {"Range": text} | ({} if if_range is None else {"If-Range": if_range})
    return requested_range(Headers(headers), size=size, tag=TAG)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=0-99", 0, 99),
        ("bytes=10-19", 10, 19),
        ("bytes=90-", 90, 99),
        ("bytes=90-500", 90, 99),
        ("bytes=-1", 99, 99),
        ("bytes=-30", 70, 99),
        ("bytes=-500", 0, 99),
        (" Bytes = 5-6 ", 5, 6),
    ],
)
def test_one_range_is_of_bytes_from_the_first_on_or_of_the_last_ones(text: str, first: int, last: int) -> None:
    found = requested(text)
    assert found == ByteRange(first, last, 100)
    assert isinstance(found, ByteRange)
    assert (found.length, found.reported) == (last - first + 1, f"bytes {first}-{last}/100")


@pytest.mark.parametrize("text", ["bytes=100-", "bytes=100-200", "bytes=-0"])
def test_a_range_behind_the_end_is_of_nothing(text: str) -> None:
    found = requested(text)
    assert found == UnsatisfiableRange(100)
    assert isinstance(found, UnsatisfiableRange)
    assert found.reported == "bytes */100"


@pytest.mark.parametrize(
    "text", ["bytes=0-1,5-6", "rows=0-1", "bytes=", "bytes=-", "bytes=6-5", "bytes=a-b", "bytes", "0-5", "bytes=1-2-3"]
)
def test_several_ranges_and_what_is_none_get_the_whole_content(text: str) -> None:
    assert requested(text) is None


def test_no_range_can_be_requested_of_an_empty_content() -> None:
    assert requested("bytes=0-", size=0) == requested("bytes=-5", size=0) == UnsatisfiableRange(0)


def test_no_range_is_the_whole() -> None:
    assert requested_range(Headers({}), size=100, tag=TAG) is None


@pytest.mark.parametrize("condition", ['"abd"', 'W/"abc"', "Sun, 22 Nov 2026 09:00:00 GMT", "abc", ""])
def test_a_part_of_changed_content_gets_the_whole_content(condition: str) -> None:
    assert requested("bytes=0-1", if_range=condition) is None
    assert requested("bytes=500-", if_range=condition) is None


def test_a_part_of_unchanged_content_gets_a_response() -> None:
    assert requested("bytes=0-1", if_range=TAG) == ByteRange(0, 1, 100)
