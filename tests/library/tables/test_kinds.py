"""The kinds of columns, and the reading of one text."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance_bayes.records.values import Cell, ColumnKind
from relevance_bayes.tables.kinds import (
    MAX_NUMBER_LENGTH,
    is_long_integer,
    is_number,
    kind_of_cells,
    kind_of_texts,
    seconds_of,
)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, 2.5, None], "number"),
        ([True, False, None], "boolean"),
        (["a", None], "category"),
        (["1", "2"], "category"),
        (["true", "false"], "category"),
        (["2024-05-01", "2024-05-01T12:00:00Z"], "timestamp"),
        ([None, None], "number"),
        ([], "number"),
        ([2**53, -(2**53)], "number"),
        ([2**53 + 1, 2], "category"),
        ([1e300, 2], "number"),
    ],
)
def test_json_cells_keep_their_type(cells: list[Cell], kind: ColumnKind) -> None:
    assert kind_of_cells(cells) == kind


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "-2.5", "+.5e-3", "1e308", ""], "number"),
        (["9007199254740992", "1"], "number"),
        (["9007199254740993", "1"], "category"),
        (["-9223372036854775809"], "category"),
        (["00012345678901234567"], "category"),
        (["1", "nan", "2"], "number"),
        (["true", "False", "TRUE", ""], "boolean"),
        (["0", "1"], "number"),
        (["yes", "no"], "category"),
        (["2024-05-01", "2024-05-01 12:30"], "timestamp"),
        (["2024", "2025"], "number"),
        (["", ""], "number"),
    ],
)
def test_csv_cells_are_parsed(texts: list[str], kind: ColumnKind) -> None:
    assert kind_of_texts(texts) == kind


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "2", "abc"], "number"),
        (["1", "abc"], "number"),
        (["1", "abc", "def"], "category"),
        ([str(n) for n in range(100)] + ["?"] * 50, "number"),
        ([str(n) for n in range(100)] + [f"{n}a" for n in range(20)], "category"),
        ([str(n) for n in range(1000)] + [f"{n}a" for n in range(50)], "number"),
        ([str(n) for n in range(1000)] + [f"{n}a" for n in range(60)], "category"),
        (["2024-05-01", "2024-05-02", "soon"], "timestamp"),
        (["true", "false", "maybe"], "boolean"),
    ],
)
def test_a_few_mismatches_are_errors_and_many_make_a_text(texts: list[str], kind: ColumnKind) -> None:
    assert kind_of_texts(texts) == kind


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1970-01-01", datetime(1970, 1, 1, tzinfo=UTC)),
        ("2024-05-01T12:30", datetime(2024, 5, 1, 12, 30, tzinfo=UTC)),
        ("2024-05-01 12:30:15.25+02:00", datetime(2024, 5, 1, 10, 30, 15, 250000, tzinfo=UTC)),
        ("2024-05-01T12:30:15-0530", datetime(2024, 5, 1, 18, 0, 15, tzinfo=UTC)),
        ("0001-01-01", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_timestamp_is_seconds_utc(text: str, moment: datetime) -> None:
    assert seconds_of(text) == (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-30",
        "20240501",
        "2024-05-01T24:30",
        "2024-W18-3",
        "2024-05-01T12",
        "12:30",
        "2024-05-01T12:30:60",
        "0001-01-01T00:00+14:00",
        "9999-12-31T23:59:59-01:00",
        "٢٠٢٤-٠٥-٠١",
        " 2024-05-01",
    ],
)
def test_what_is_no_timestamp_is_none(text: str) -> None:
    assert seconds_of(text) is None


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_python_writes_as_iso_8601_is_read_back(moment: datetime) -> None:
    assert seconds_of(moment.isoformat()) == (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_that_python_writes_is_a_number(value: float) -> None:
    assert is_number(repr(value))


@given(st.integers(-(10**30), 10**30))
def test_an_integer_is_long_exactly_beyond_2_to_the_53(value: int) -> None:
    assert is_long_integer(str(value)) == (abs(value) > 2**53)


@pytest.mark.parametrize("text", ["", "1_000", "0x10", "1e", ".", "1,5", "--1", "٣", "1 2", "NaN", "inf"])
def test_what_is_no_number_is_none(text: str) -> None:
    assert not is_number(text)


def test_a_text_longer_than_any_number_is_text() -> None:
    """A float64 is written in 1,077 characters at most: a longer cell is no number, and is not matched."""
    smallest = f"{-5e-324:.1074f}"
    assert len(smallest) == 1_077
    assert is_number(smallest)
    assert is_number("9" * MAX_NUMBER_LENGTH)
    assert not is_number("9" * (MAX_NUMBER_LENGTH + 1))
