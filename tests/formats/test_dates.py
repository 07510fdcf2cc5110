"""Dates of CSV: formats that are given, that are detected, and that have two readings."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.formats.cells import Expected
from app.formats.csv_stream import read_csv as read_rows
from app.formats.dates import DIRECTIVES, DateFormat, checked_format
from app.formats.format import ReadOptions
from relevance_bayes.records.errors import InvalidDataError, InvalidRequestError
from relevance_bayes.tables.columns import TimestampArray
from relevance_bayes.tables.kinds import iso_8601
from tests.formats.files import read_csv


def seconds(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[arg-type,misc]


def iso(*parts: int) -> str:
    return iso_8601(seconds(*parts))


@pytest.mark.parametrize(
    ("pattern", "text", "moment"),
    [
        ("%d.%m.%Y", "03.04.2025", (2025, 4, 3)),
        ("%d.%m.%Y", "3.4.2025", (2025, 4, 3)),
        ("%m/%d/%y %I:%M %p", "4/3/25 1:05 PM", (2025, 4, 3, 13, 5)),
        ("%m/%d/%y %I:%M %p", "4/3/69 12:05 am", (1969, 4, 3, 0, 5)),
        ("%d %b %Y", "3 Apr 2025", (2025, 4, 3)),
        ("%B %d, %Y", "april 3, 2025", (2025, 4, 3)),
        ("%Y%m%d %H%M%S.%f", "20250403 235958.25", (2025, 4, 3, 23, 59, 58, 250_000)),
        ("%d.%m.%Y %H:%M %z", "03.04.2025 01:00 +02:00", (2025, 4, 2, 23)),
        ("100%% %Y-%m-%d", "100% 2025-04-03", (2025, 4, 3)),
        ("%d.%m.%Y", "2025-04-03", (2025, 4, 3)),
    ],
)
def test_a_format_reads_a_date(pattern: str, text: str, moment: tuple[int, ...]) -> None:
    assert checked_format(pattern).seconds(text) == seconds(*moment)


@pytest.mark.parametrize("text", ["31.02.2025", "3.4.25", "03-04-2025", "03.04.2025 12:00", "", "٣.٤.٢٠٢٥"])
def test_other_texts_are_no_dates(text: str) -> None:
    assert checked_format("%d.%m.%Y").seconds(text) is None
    assert DateFormat().seconds(text) is None


@given(moment=st.datetimes(datetime(1969, 1, 1), datetime(2068, 12, 31)))  # noqa: DTZ001 - as strftime takes them
@pytest.mark.parametrize(
    "pattern", ["%d.%m.%Y %H:%M:%S.%f", "%m/%d/%y %I:%M:%S %p %f", "%B %d %Y, %H:%M:%S,%f", "%d%b%y %S%M%H %f"]
)
def test_what_strftime_writes_is_read(pattern: str, moment: datetime) -> None:
    assert checked_format(pattern).seconds(moment.strftime(pattern)) == moment.replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("pattern", "detail"),
    [
        ("%d.%m.%Q", "got %Q"),
        ("%d.%m.%Y %", "got %"),
        ("%d.%m", "one year"),
        ("%m %b %d %Y", "one month"),
        ("%d.%m.%Y %d", "one day"),
        ("%d.%m.%Y %H %H", "each part once"),
        ("%d.%m.%Y" + " " * 60, "at most 64 characters"),
    ],
)
def test_a_format_that_reads_no_date_is_refused(pattern: str, detail: str) -> None:
    with pytest.raises(InvalidRequestError, match=detail) as caught:
        checked_format(pattern)
    assert caught.value.faults[0].parameter == "date_format"


def test_each_directive_is_one_of_strptime() -> None:
    for directive in DIRECTIVES:
        datetime.strptime(datetime(2025, 4, 3, tzinfo=UTC).strftime(f"%{directive}"), f"%{directive}")  # noqa: DTZ007


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (("13.04.2025", "02.03.2025"), (2025, 4, 13)),
        (("4/13/2025", "2/3/2025"), (2025, 4, 13)),
        (("13-04-2025 08:30", "02-03-2025 09:00"), (2025, 4, 13, 8, 30)),
        (("31.12.2025 08:30:15", "01.01.2026 09:00:00"), (2025, 12, 31, 8, 30, 15)),
    ],
)
def test_an_order_that_one_date_shows_is_that_of_the_column(cells: tuple[str, str], first: tuple[int, ...]) -> None:
    kinds, rows = read_csv("day;x\n" + "".join(f"{cell};{place}\n" for place, cell in enumerate(cells)))
    assert kinds["day"] == "timestamp"
    assert rows[0][0] == iso(*first)


def test_dates_of_two_readings_are_refused_until_the_format_is_given() -> None:
    content = "day;x\n03.04.2025;1\n05.06.2025;2\n"
    with pytest.raises(InvalidDataError) as caught:
        read_csv(content)
    assert caught.value.detail == (
        "`day` has 03.04.2025, which is 2025-04-03 with the day first and 2025-03-04 with the month first; "
        'set date_format="%d.%m.%Y" or date_format="%m.%d.%Y".'
    )
    assert caught.value.faults[0].column == "day"
    for pattern, moment in (("%d.%m.%Y", (2025, 4, 3)), ("%m.%d.%Y", (2025, 3, 4))):
        assert read_csv(content, ReadOptions(date_format=pattern))[1][0][0] == iso(*moment)
    assert read_csv(content, declared={"day": "category"})[1][0][0] == "03.04.2025"


@pytest.mark.parametrize("day", ["31.12.2025", "2025-12-31", "2025-12-31T00:00:00.0Z"])
def test_dates_are_read_beside_numbers_with_a_decimal_comma(day: str) -> None:
    kinds, rows = read_csv(f"day;sold\n{day};1.204,5\n{day};3,5\n")
    assert kinds == {"day": "timestamp", "sold": "number"}
    assert rows == [[iso(2025, 12, 31), 1204.5], [iso(2025, 12, 31), 3.5]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2020-01-31 05:06:07+00", (5, 6, 7)),
        ("2020-01-31 07:06:07+02", (5, 6, 7)),
        ("2020-01-31 05:06:07 UTC", (5, 6, 7)),
        ("2020-01-31T05:06:07,25Z", (5, 6, 7.25)),
        ("2020/01/31", (0, 0, 0)),
        ("2020/1/31", (0, 0, 0)),
        ("2020.01.31 05:06", (5, 6, 0)),
        ("31-Jan-2020", (0, 0, 0)),
        ("31 January 2020", (0, 0, 0)),
        ("31JAN2020", (0, 0, 0)),
        ("31-Jan-20", (0, 0, 0)),
        ("Jan 31, 2020", (0, 0, 0)),
        ("January 31, 2020 5:06 PM", (17, 6, 0)),
        ("Fri, 31 Jan 2020 05:06:07 GMT", (5, 6, 7)),
        ("2020-Jan-31", (0, 0, 0)),
        ("1/31/2020 5:06 PM", (17, 6, 0)),
        ("1/31/2020 5:06:07 am", (5, 6, 7)),
        ("31.01.2020 05:06:07.5", (5, 6, 7.5)),
        ("2020/01/31 5:06 PM", (17, 6, 0)),
    ],
)
def test_dates_that_programs_write_are_times(text: str, expected: tuple[int, int, float]) -> None:
    kinds, rows = read_csv(f'n,at\n1,"{text}"\n2,\n3,"{text}"\n')
    hour, minute, second = expected
    whole = seconds(2020, 1, 31) + 3_600 * hour + 60 * minute + second
    assert kinds["at"] == "timestamp"
    assert [row[1] for row in rows] == [iso_8601(whole), None, iso_8601(whole)]


def test_full_names_of_months_are_read_beside_may() -> None:
    assert [row[0] for row in read_csv("day,x\n5 May 2024,1\n6 June 2024,2\n7 July 2024,3\n")[1]] == [
        iso(2024, 5, 5),
        iso(2024, 6, 6),
        iso(2024, 7, 7),
    ]


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["31/12/99", "30/11/98"], (1999, 12, 31)),
        (["12/31/99", "11/30/98"], (1999, 12, 31)),
        (["13/04/25", "14/04/25", "15/05/25"], (2025, 4, 13)),
        (["03.03.24", "04.04.24"], (2024, 3, 3)),
    ],
)
def test_dates_with_short_years_are_times_where_one_order_is_possible(
    texts: list[str], first: tuple[int, int, int]
) -> None:
    kinds, rows = read_csv("day,x\n" + "".join(f"{text},1\n" for text in texts))
    assert (kinds["day"], rows[0][0]) == ("timestamp", iso(*first))


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("01/02/20", "2020-02-01 with the day first", "2020-01-02 with the month first"),
        ("13/04/25", "2025-04-13 with the day first", "2013-04-25 with the year first"),
        ("5-6-07", "2007-06-05 with the day first", "2007-05-06 with the month first"),
    ],
)
def test_dates_with_short_years_of_two_readings_are_refused(text: str, one: str, other: str) -> None:
    with pytest.raises(InvalidDataError, match=re.escape(f"`day` has {text}, which is {one} and {other}; set date_f")):
        read_csv(f"day,x\n03/03/03,1\n{text},1\n" if "/" in text else f"day,x\n{text},1\n")


@pytest.mark.parametrize("before", [1_000, 60_000])
def test_a_late_date_of_another_form_is_refused_with_its_line(before: int) -> None:
    with pytest.raises(InvalidDataError, match=f'Line {before + 2}, column "day": "12/31/2020" is not'):
        read_csv("day,x\n" + "31-Dec-2020,1\n" * before + "12/31/2020,2\n")


def test_another_column_of_the_file_shows_the_order() -> None:
    _, rows = read_csv("from;to\n03.04.2025;13.04.2025\n05.06.2025;06.06.2025\n")
    assert rows[0] == [iso(2025, 4, 3), iso(2025, 4, 13)]
    with pytest.raises(InvalidDataError, match=r"`x` has 03\.04\.2025"):
        read_csv("from;to;x\n13.04.2025;04/13/2025;03.04.2025\n")


@pytest.mark.parametrize(
    "content",
    [
        "v;x\n1.2.2025;1\n13.4.2025;2\n4.13.2025;3\n",  # of both orders
        "v;x\n1.2.3;1\n10.2.30;2\n",
        "v;x\n192.168.1.10;1\n10.0.0.1;2\n",
        "v;x\nnone;1\nsome;2\n03.04.2025;3\nall;4\n",
    ],
)
def test_other_texts_stay_texts(content: str) -> None:
    assert read_csv(content)[0] == {"v": "category", "x": "number"}


def test_a_wrong_date_has_its_place() -> None:
    rows = "".join(f"{day:02}.04.2025;{day}\n" for day in range(1, 31))
    with pytest.raises(InvalidDataError, match=r"Line 32.*31\.04\.2025"):
        read_csv(f"day;x\n{rows}31.04.2025;31\n")


def test_rows_to_predict_for_are_read_alike() -> None:
    expected = Expected((("day", "timestamp"), ("x", "number")), None, frozenset(), 10, 1000)

    def first(content: bytes, date_format: str | None = None) -> float:
        read = read_rows(content, ReadOptions(date_format=date_format), expected)
        assert read.cell_faults == ()
        column = read.block["day"]
        assert isinstance(column, TimestampArray)
        return float(column.values[0])

    assert first(b"day,x\n13.04.2025,1\n") == seconds(2025, 4, 13)
    assert first(b"day,x\n03.04.2025,1\n", "%d.%m.%Y") == seconds(2025, 4, 3)
    assert first(b"day,x\n2025-04-03,1\n") == seconds(2025, 4, 3)
    with pytest.raises(InvalidDataError, match=re.escape('date_format="%m.%d.%Y"')):
        first(b"day,x\n03.04.2025,1\n")
