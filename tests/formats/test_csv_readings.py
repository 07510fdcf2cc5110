"""Readings of the texts of a CSV: missing values, forms of numbers, codes, long integers, also in rows far below."""

import re
from collections.abc import Sequence

import pytest

from app.errors import MalformedBodyError
from app.formats.cells import Expected
from app.formats.csv_stream import RECORDS_OF_A_BATCH
from app.formats.csv_stream import read_csv as read_rows
from app.formats.format import ReadOptions
from relevance_bayes.records.datasets import ColumnReading, MissingText
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.records.values import Cell, ColumnKind, NumberForm
from relevance_bayes.tables.columns import CategoryArray, NumberArray
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT
from tests.formats.files import read_again, read_csv

LATE = [ROWS_LOOKED_AT, RECORDS_OF_A_BATCH + 10]
"""Numbers of rows before a later one: the first beyond those that are looked at, and one of the second batch."""

PLAIN = ReadOptions()


def column(
    cells: Sequence[str], options: ReadOptions = PLAIN, declared: ColumnKind | None = None
) -> tuple[ColumnKind, list[Cell], ColumnReading | None]:
    """The kind, values and reading of a column of quoted cells beside another one."""
    content = "n,v\n" + "".join(f'{row},"{cell}"\n' for row, cell in enumerate(cells))
    (kinds, rows), readings = read_again(content.encode(), options, {} if declared is None else {"v": declared})
    return kinds["v"], [row[1] for row in rows], readings.get("v")


@pytest.mark.parametrize(
    "marker", ["NA", "nan", "NULL", "None", "N/A", "#N/A", "n/a", "?", "-", "--", ".", "**", "<NA>"]
)
def test_markers_are_missing_beside_numbers_booleans_and_times(marker: str) -> None:
    for cells in (["1", "2", "3.5"], ["true", "false", "true"], ["2024-01-01", "2024-01-02", "2024-01-03"]):
        kind, values, reading = column([*cells, f" {marker} ", marker])
        assert (kind, values[:3]) == column(cells)[:2]
        assert values[3:] == [None, None]
        assert reading == ColumnReading(missing_texts=(MissingText(marker, 2),))


def test_many_different_markers_make_no_text() -> None:
    kind, values, reading = column(["NA", "1", "?", "n/a", "2", "-", "nan", "NULL", "?"])
    assert (kind, [value for value in values if value is not None]) == ("number", [1.0, 2.0])
    assert reading is not None
    assert reading.missing_texts is not None
    assert [(one.text, one.count) for one in reading.missing_texts][:2] == [("?", 2), ("-", 1)]


def test_markers_are_texts_among_texts_unless_they_are_listed() -> None:
    assert column(["NA", "SE", "NO"])[:2] == ("category", ["NA", "SE", "NO"])
    listed = ReadOptions(missing_values=("SE", "-9"))
    assert column(["NA", "SE", "NO"], listed)[1] == ["NA", None, "NO"]
    assert column(["1", "-9", "3"], listed)[:2] == ("number", [1.0, None, 3.0])
    with pytest.raises(InvalidDataError, match='"NA" is not a number'):
        column(["1", "NA", "3"], listed)


@pytest.mark.parametrize("before", LATE)
def test_a_late_marker_is_missing(before: int) -> None:
    kind, values, reading = column([*["1.5"] * before, "NA", "2"])
    assert (kind, values[-2:]) == ("number", [None, 2.0])
    assert reading == ColumnReading(missing_texts=(MissingText("NA", 1),))


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ("x\n1\n\n3\n", [1.0, None, 3.0]),
        ("x\n1\n\n3\n\n", [1.0, None, 3.0, None]),
        ("x\n1\n\n3", [1.0, None, 3.0]),
        ("x\r\n\r\n3\r\n", [None, 3.0]),
        ('x\n1\n""\n3\n', [1.0, None, 3.0]),
    ],
)
def test_a_blank_line_of_one_column_is_a_missing_value(content: str, values: list[float | None]) -> None:
    assert [row[0] for row in read_csv(content)[1]] == values
    expected = Expected((("x", "number"),), None, frozenset(), 100, 10_000)
    read = read_rows(content.encode(), PLAIN, expected).block["x"]
    assert isinstance(read, NumberArray)
    assert len(read.values) == len(values)


def test_the_line_of_a_fault_counts_blank_lines_of_one_column() -> None:
    with pytest.raises(InvalidDataError, match="Line 5"):
        read_csv("x\n1\n\n3\nabc\n")


@pytest.mark.parametrize(
    ("cells", "values", "form"),
    [
        (["12 %", "7.5 %", "-3 %"], [12.0, 7.5, -3.0], NumberForm(suffix="%")),
        (["12%", "7%", "8%"], [12.0, 7.0, 8.0], NumberForm(suffix="%")),
        (["€1,234.50", "-€12", "€-7.25"], [1234.5, -12.0, -7.25], NumberForm("€", thousands=",")),
        (["R$ 1.234,50", "R$ 12,00", "R$ 7,25"], [1234.5, 12.0, 7.25], NumberForm("R$", "", ",", ".")),
        (["12.30 EUR", "7 EUR", "1,200.00 EUR"], [12.3, 7.0, 1200.0], NumberForm("", "EUR", thousands=",")),
        (["CHF 1'200.50", "CHF 7.00"], [1200.5, 7.0], NumberForm("CHF", thousands="'")),
        (["(300)", "12", "(7.5)", "1", "3"], [-300.0, 12.0, -7.5, 1.0, 3.0], NumberForm()),
        (["($3.50)", "$4", "$5"], [-3.5, 4.0, 5.0], NumberForm("$")),
        (["\u22125", "3", "\u22127.5"], [-5.0, 3.0, -7.5], NumberForm()),
        (["5-", "3", "7-"], [-5.0, 3.0, -7.0], NumberForm()),
        (["1\u202f234", "2\u202f345,5", "12"], [1234.0, 2345.5, 12.0], NumberForm("", "", ",", " ")),
        (["1\u00a0234.5", "12"], [1234.5, 12.0], NumberForm(thousands=" ")),
        (["1’234.5", "12"], [1234.5, 12.0], NumberForm(thousands="'")),
        (["1,5", "2,25", "300"], [1.5, 2.25, 300.0], NumberForm(decimal=",")),
        (["18.300,00", "500,00"], [18300.0, 500.0], NumberForm(decimal=",", thousands=".")),
        (["5 kg", "7.5 kg", "80 kg"], [5.0, 7.5, 80.0], NumberForm(suffix="kg")),
        (["20°C", "-3°C"], [20.0, -3.0], NumberForm(suffix="°C")),
        (["12 %", "NA", "7 %"], [12.0, None, 7.0], NumberForm(suffix="%")),
    ],
)
def test_numbers_in_one_form_are_numbers(cells: list[str], values: list[float | None], form: NumberForm) -> None:
    kind, found, reading = column(cells)
    assert (kind, found) == ("number", values)
    assert reading is not None
    assert reading.form == form
    content = "v\n" + "\n".join(f'"{cell}"' for cell in cells[:1])
    expected = Expected((("v", "number"),), None, frozenset(), 100, 10_000, {"v": form})
    read = read_rows(content.encode(), PLAIN, expected)
    assert isinstance(read.block["v"], NumberArray)
    assert (read.block["v"].values[0], read.cell_faults) == (values[0], ())


@pytest.mark.parametrize(
    "cells",
    [
        ["A1", "B2", "C3"],
        ["1st", "2nd", "3rd"],
        ["12 May", "13 May", "14 May"],
        ["10 am", "11 am", "9 am"],
        ["192.168.1.10", "10.0.0.1"],
        ["12-15", "16-20"],
        ["3 Oak", "4 Elm", "7 Ash"],
        ["12:30", "13:45"],
        ["1,23,456", "2,34,567"],
        ["5/8", "3/4"],
    ],
)
def test_other_texts_with_digits_stay_texts(cells: list[str]) -> None:
    assert column(cells)[:2] == ("category", cells)


@pytest.mark.parametrize("cells", [["$5", "€7", "$8", "€9"], ["12 %", "0.5", "7 %", "0.25"], ["5 EUR", "7 USD"]])
def test_numbers_in_two_forms_are_refused(cells: list[str]) -> None:
    with pytest.raises(InvalidDataError, match="`v` has numbers in two forms"):
        column(cells)
    assert column(cells, declared="category")[1] == cells


def test_numbers_in_two_forms_are_refused_with_their_lines() -> None:
    with pytest.raises(InvalidDataError, match=re.escape("See line 3 and line 5.")) as refused:
        read_csv("n;v\n1;\n2;$5\n3;$6\n4;€7\n5;$8\n6;€9\n")
    assert [(fault.line, fault.row, fault.column) for fault in refused.value.faults] == [(3, 1, "v"), (5, 3, "v")]


@pytest.mark.parametrize("before", LATE)
@pytest.mark.parametrize("cell", ["0.5", "$5", "abc"])
def test_a_late_number_of_another_form_is_refused_with_its_line(before: int, cell: str) -> None:
    with pytest.raises(InvalidDataError, match=f"Line {before + 2}, column"):
        column([*["12 %"] * before, cell, "3 %"])


def test_a_percentage_of_two_readings_is_refused() -> None:
    with pytest.raises(InvalidDataError, match='set decimal="," or thousands=","'):
        read_csv("n;v\n1;1,234 %\n2;5 %\n")


@pytest.mark.parametrize("cells", [["01234", "90210"], ["007", "123"], ["0001", "0002"]])
def test_codes_with_leading_zeros_are_texts(cells: list[str]) -> None:
    assert column(cells)[:2] == ("category", cells)
    assert column(cells, declared="number")[:2] == ("number", [float(cell) for cell in cells])


@pytest.mark.parametrize("cells", [["01", "12"], ["0123", "12"], ["0.5", "1.5"], ["012", "1234"], ["100", "200"]])
def test_numbers_of_other_lengths_are_numbers(cells: list[str]) -> None:
    assert column(cells)[:2] == ("number", [float(cell) for cell in cells])


@pytest.mark.parametrize("before", LATE)
def test_a_late_leading_zero_makes_codes(before: int) -> None:
    kind, values, _ = column([*["90210"] * before, "01234", "55555"])
    assert (kind, values[0], values[-2:]) == ("category", "90210", ["01234", "55555"])


@pytest.mark.parametrize("before", LATE)
def test_a_late_number_of_another_length_makes_numbers(before: int) -> None:
    kind, values, _ = column([*["012"] * before, "1234"])
    assert (kind, values[0], values[-1]) == ("number", 12.0, 1234.0)


@pytest.mark.parametrize("before", LATE)
def test_a_late_long_integer_makes_texts_that_keep_their_digits(before: int) -> None:
    kind, values, _ = column([*["7"] * before, "12345678901234567", "8"])
    assert (kind, values[0], values[-2:]) == ("category", "7", ["12345678901234567", "8"])


@pytest.mark.parametrize("before", LATE)
def test_a_column_whose_first_rows_are_empty_has_the_kind_of_later_ones(before: int) -> None:
    assert column([*[""] * before, "red", "blue"])[:2] == ("category", [*[None] * before, "red", "blue"])
    assert column([*["NA"] * before, "2024-05-01"])[0] == "timestamp"


def test_time_stamps_as_integers_are_numbers() -> None:
    for unit in (1, 10**3, 10**6, 10**9):
        stamps = [(1_700_000_000 + 60 * n) * unit for n in range(5)]
        assert column([str(stamp) for stamp in stamps])[:2] == ("number", [float(stamp) for stamp in stamps])
    ids = ["1083592734038929409", "1083592734038929411"]
    assert column(ids)[:2] == ("category", ids)


@pytest.mark.parametrize("before", LATE)
@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["00123", "90210"], "category", ["00123", "90210"]),
        (["12 %", "7 %"], "number", [12.0, 7.0]),
        (["31-Jan-2020", "01-Feb-2020"], "timestamp", ["2020-01-31T00:00:00Z", "2020-02-01T00:00:00Z"]),
    ],
)
def test_a_column_whose_first_rows_are_empty_has_the_reading_of_later_ones(
    before: int, cells: list[str], kind: ColumnKind, values: list[Cell]
) -> None:
    for empty in ("", "NA"):
        found, read, _ = column([*[empty] * before, *cells])
        assert (found, read[-2:]) == (kind, values)


QUOTINGS = [
    ('"b ""q"", c"', 'b "q", c'),
    ('"b \\"q\\", c"', 'b "q", c'),
    ('"a\\"b"', 'a"b'),
    (' "b, c"', "b, c"),
    ('  "bc"', "bc"),
    ('"b\\"', "b\\"),
    ('"b\nc"', "b\nc"),
    ('b "q" c', 'b "q" c'),
    ('"said, ""no"""', 'said, "no"'),
]


@pytest.mark.thorough
@pytest.mark.parametrize("before", [25, *LATE])
@pytest.mark.parametrize(("cell", "value"), QUOTINGS)
def test_quotation_marks_that_begin_late_are_read_as_their_writers_meant(before: int, cell: str, value: str) -> None:
    content = "n,t,v\n" + "".join(f"{row},a{row},1.5\n" for row in range(before)) + f"7,{cell},2.5\n"
    kinds, rows = read_csv(content)
    assert kinds == {"n": "number", "t": "category", "v": "number"}
    assert rows[-1] == [7.0, value, 2.5]
    expected = Expected((("v", "number"), ("t", "category")), None, frozenset({"n"}), before + 1, 10**8)
    read = read_rows(content.encode(), PLAIN, expected).block["t"]
    assert isinstance(read, CategoryArray)
    assert read.labels[read.codes[-1]] == value


def test_backslashes_before_quotation_marks_that_are_no_escapes_everywhere_are_refused_with_the_line() -> None:
    head = "n,t\n" + "".join(f"{row},a\n" for row in range(30))
    with pytest.raises(MalformedBodyError, match="Line 32: The record that begins here has a text after a closing"):
        read_csv(head + '31,"a\\"b"\n32,"c" d\n33,"e\\"\n')
