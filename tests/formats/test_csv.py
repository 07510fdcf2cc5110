"""CSV as people and programs write it, and the errors of broken files."""

import csv
import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cells import MAX_FAULTS_REPORTED
from app.formats.format import ReadOptions
from relevance_bayes.records.errors import Fault, InvalidDataError, InvalidRequestError, RelevanceError
from relevance_bayes.records.values import ColumnKind, DecimalMark, ThousandsMark
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT
from tests.formats.files import Table, read_csv
from tests.properties import examples

PLAIN: Table = ({"x": "number", "c": "category"}, [[1.5, "a"], [2.5, "b"]])


@pytest.mark.parametrize(
    "content",
    [
        b"x,c\n1.5,a\n2.5,b\n",
        b"x,c\n1.5,a\n2.5,b",
        b"x,c\r\n1.5,a\r\n2.5,b\r\n",
        b"x,c\r1.5,a\r2.5,b\r",
        b"\xef\xbb\xbfx,c\n1.5,a\n2.5,b\n",
        b"\xef\xbb\xbfx;c\r\n1,5;a\r\n2,5;b\r\n",
        b"x;c\n1.5;a\n2.5;b\n",
        b"x\tc\n1.5\ta\n2.5\tb\n",
        b"x|c\n1.5|a\n2.5|b\n",
        b'"x","c"\n"1.5","a"\n"2.5","b"\n',
        b"\n\nx,c\n\n1.5,a\n\n2.5,b\n\n\n",
        b" x , c \n 1.5 , a \n2.5\t,b\n",
    ],
)
def test_every_way_to_write_a_table_is_found_out(content: bytes) -> None:
    assert read_csv(content) == PLAIN


def test_quoted_cells_hold_delimiters_newlines_and_quotes() -> None:
    content = 'x,c\n1,"a, ""b""\nand c"\n2,"d\r\ne"\n'
    assert read_csv(content)[1] == [[1.0, 'a, "b"\nand c'], [2.0, "d\r\ne"]]


def test_empty_cells_are_missing_in_every_kind() -> None:
    content = 'n,b,t,c\n1,true,2024-01-01,a\n,,,\n  ,"", , \n'
    kinds, rows = read_csv(content)
    assert list(kinds.values()) == ["number", "boolean", "timestamp", "category"]
    assert rows == [[1.0, True, "2024-01-01T00:00:00Z", "a"], [None] * 4, [None] * 4]


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (b"1,2\n3,4\n", ["column_1", "column_2"]),
        (b"a,2\nb,4\n", ["column_1", "column_2"]),
        (b"a,b\nc,d\n", ["a", "b"]),
        (b"id,2019,2020\nx,1,2\ny,3,4\n", ["id", "2019", "2020"]),
        (b"id,2019,2020\n1,1,2\n2,3,4\n", ["id", "2019", "2020"]),
        (b",a\n1,2\n", ["column_1", "a"]),
        ("😀,名\n1,2\n".encode(), ["😀", "名"]),
    ],
)
def test_a_header_is_found_out(content: bytes, names: list[str]) -> None:
    assert list(read_csv(content)[0]) == names


def test_what_the_caller_states_goes_before_what_is_inferred() -> None:
    assert read_csv(b"1,2\n3,4\n", ReadOptions(header=True)) == ({"1": "number", "2": "number"}, [[3.0, 4.0]])
    assert read_csv(b"a;b\n1;2\n", ReadOptions(delimiter=",")) == ({"a;b": "category"}, [["1;2"]])
    assert read_csv(b"a;b\n1,5;x\n", ReadOptions(decimal=".", delimiter=";"))[0] == {"a": "category", "b": "category"}
    assert read_csv(b"a\n1\n", declared={"a": "category"}) == ({"a": "category"}, [["1"]])
    assert read_csv(b"a,b\n1,x\n0,y\n", declared={"a": "boolean"})[1] == [[True, "x"], [False, "y"]]
    with pytest.raises(InvalidRequestError, match="does not have"):
        read_csv(b"a\n1\n", declared={"b": "number"})
    with pytest.raises(InvalidRequestError, match="delimiter"):
        read_csv(b"a\n1\n", ReadOptions(delimiter="ab"))


def test_a_decimal_comma_beside_a_decimal_point_needs_an_option() -> None:
    with pytest.raises(InvalidDataError, match="decimal="):
        read_csv(b"a;b\n1,5;2.5\n")
    assert read_csv(b"a;b\n1,5;2.5\n", ReadOptions(decimal=","))[0] == {"a": "number", "b": "category"}


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ("a;b\n1,5;1\n2,25;2\n", [1.5, 2.25]),
        ("a;b\n753,843;1\n1,204,332;2\n", [753843.0, 1204332.0]),
        ("a;b\n753,843;1.5\n12;2\n", [753843.0, 12.0]),
        ("a;b\n1.234,5;1\n12.000;2\n", [1234.5, 12000.0]),
        ("a;b\n12.000;1,5\n7;2\n", [12000.0, 7.0]),
        ("a;b\n-1.204.332;1\n+7;2\n", [-1204332.0, 7.0]),
        ("a;b\n0,753;1\n1,250;2\n", [0.753, 1.25]),
        ("a;b\n0.753;1\n1.250;2\n", [0.753, 1.25]),
        ('a,b\n"753,843",1\n12,2\n', [753843.0, 12.0]),
        ('a,b\n"1,204,332.50",1\n 12 ,2\n', [1204332.5, 12.0]),
        ("a,b\n1.250,1\n2.125,2\n", [1.25, 2.125]),
        ("a\tb\n1.250\t1\n2.125\t2\n", [1.25, 2.125]),
    ],
)
def test_the_separators_of_numbers_are_found(content: str, values: list[float]) -> None:
    kinds, rows = read_csv(content)
    assert kinds["a"] == "number"
    assert [row[0] for row in rows] == values


@pytest.mark.parametrize(
    ("content", "small", "large", "mark"),
    [
        ("a;b\n753,843;1\n12;2\n", "753.843", "753843", ","),
        ("a\tb\n753,843\t1\n12\t2\n", "753.843", "753843", ","),
        ("a;b\n1.250;1\n2.125;2\n", "1.250", "1250", "."),
    ],
)
def test_numbers_of_two_readings_are_refused_until_a_separator_is_given(
    content: str, small: str, large: str, mark: DecimalMark
) -> None:
    with pytest.raises(InvalidDataError, match=re.escape(f'decimal="{mark}" or thousands="{mark}"')) as caught:
        read_csv(content)
    assert f"which is {small} with a decimal separator and {large} with a thousands separator" in caught.value.detail
    assert caught.value.faults[0].column == "a"
    assert read_csv(content, ReadOptions(decimal=mark))[1][0][0] == float(small)
    assert read_csv(content, ReadOptions(thousands=mark))[1][0][0] == float(large)


@pytest.mark.parametrize(
    ("cells", "thousands", "value"),
    [("1 204 332,5", " ", 1204332.5), ("1'204'332.5", "'", 1204332.5), ("1'204'332", "'", 1204332.0)],
)
def test_groups_by_blanks_and_apostrophes_are_read(cells: str, thousands: ThousandsMark, value: float) -> None:
    content = f"a;b\n{cells};1\n{cells};2\n"
    assert read_csv(content)[1] == [[value, 1.0], [value, 2.0]]
    options = ReadOptions(thousands=thousands)
    assert read_csv(content, options)[1] == [[value, 1.0], [value, 2.0]]
    assert read_csv(f"{content}7;3\n", options)[1][-1] == [7.0, 3.0]


@pytest.mark.parametrize("cell", ["12,34", "1,2345", "1234,567", "0,123", "1,23,456", ",123", "1,,234"])
def test_groups_of_other_than_three_digits_are_no_number(cell: str) -> None:
    options = ReadOptions(thousands=",", delimiter=";")
    assert read_csv(f"a;b\n{cell};1\n", options)[0]["a"] == "category"
    with pytest.raises(InvalidDataError, match="Line 3"):
        read_csv(f"a;b\n1,234;1\n{cell};2\n", options, declared={"a": "number"})


def test_columns_that_are_declared_as_text_have_no_separators() -> None:
    content = "a;b\n753,843;1\n12;2\n"
    assert read_csv(content, declared={"a": "category"})[1] == [["753,843", 1.0], ["12", 2.0]]


def test_a_text_that_looks_like_a_number_has_no_separators() -> None:
    content = "a;b\nnone;1.5\n1,234;2\nlarge, wide;3\nsmall;4\n"
    assert read_csv(content)[0] == {"a": "category", "b": "number"}


def test_marks_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(InvalidDataError, match="others a point"):
        read_csv("a;b\n1,204,332;3,5\n7;2\n")
    with pytest.raises(InvalidRequestError, match="other than `decimal`"):
        read_csv("a;b\n1,5;1\n", ReadOptions(decimal=",", thousands=","))


def test_the_ends_of_float64_are_kept() -> None:
    values = [1e308, -1.7976931348623157e308, 1e-308, 5e-324, 0.1]
    content = "x\n" + "\n".join(map(repr, values))
    assert [row[0] for row in read_csv(content)[1]] == values


def test_integers_that_float64_would_round_stay_text() -> None:
    kinds, rows = read_csv("id\n9223372036854775809\n18446744073709551617\n1\n")
    assert kinds == {"id": "category"}
    assert rows == [["9223372036854775809"], ["18446744073709551617"], ["1"]]


LONG = "x,c\n" + "1,a\n" * (ROWS_LOOKED_AT + 500)
LINE = ROWS_LOOKED_AT + 502


@pytest.mark.parametrize(
    ("content", "line", "column", "detail"),
    [
        ("x,c\n1,a\n\nabc,b\n3,c\n", 4, "x", '"abc" is not a number.'),
        ('x,c\n1,"a\nb"\nabc,b\n3,c\n', 4, "x", '"abc" is not a number.'),
        (
            "x,c\n1,a\n-inf,b\n",
            3,
            "x",
            "-inf is not a finite number; for a missing value, leave the cell empty (null in JSON)",
        ),
        ("x,c\n1,a\n1e309,b\n", 3, "x", '"1e309" is beyond the range of a 64-bit number'),
        ("x,c\n1,a\n2,b\0\n", 3, "c", '"b\\u0000" contains NUL.'),
        (LONG + "abc,b\n", LINE, "x", '"abc" is not a number.'),
        (LONG + "\r\n" * 3 + "1,b\nInfinity,b\n", LINE + 4, "x", "Infinity is not a finite number"),
        (LONG.replace("1,a", "true,a") + "maybe,b\n", LINE, "x", '"maybe" is not true or false.'),
        (LONG.replace("1,a", "2024-01-01,a") + "2024-02-30,b\n", LINE, "x", '"2024-02-30" is not an ISO 8601'),
    ],
)
def test_a_mismatch_is_refused_with_its_line(content: str, line: int, column: str, detail: str) -> None:
    with pytest.raises(InvalidDataError) as refused:
        read_csv(content)
    (fault,) = refused.value.faults
    assert (fault.line, fault.column) == (line, column)
    assert fault.detail.startswith(detail)
    assert refused.value.detail.startswith(f'Line {line}, column "{column}": {detail}')


def test_many_mismatches_are_reported_up_to_a_number() -> None:
    with pytest.raises(InvalidDataError, match="first of 100 faults") as refused:
        read_csv("x\n" + "1\n" * 200 + "a\n" * 100)
    assert [fault.line for fault in refused.value.faults] == list(range(202, 202 + MAX_FAULTS_REPORTED))


def test_declared_numbers_are_rounded_as_requested() -> None:
    assert read_csv("x\n9007199254740993\n", declared={"x": "number"})[1] == [[9007199254740992.0]]


@pytest.mark.parametrize(
    ("content", "error", "reported", "line"),
    [
        (b"", InvalidDataError, "empty", None),
        (b"\n \n", InvalidDataError, "only a header", None),
        (b"x,c\n", InvalidDataError, "only a header", None),
        (b"x,c", InvalidDataError, "only a header", None),
        (b"x,c\n1,2\n3\n", MalformedBodyError, "Expected 2 cells, got 1.", 3),
        (b"x,c\n1,2\n3,4,5\n", MalformedBodyError, "Expected 2 cells, got 3.", 3),
        (b'x,c\n1,"2\n3,4\n', MalformedBodyError, "quotation mark", 2),
        (b'x,c\n1,2\n3,"4', MalformedBodyError, "quotation mark", 3),
        (b'x,c\n1,2\n"3,4\n', MalformedBodyError, "quotation mark", 3),
        (b'x\n1\n"2', MalformedBodyError, "quotation mark", 3),
        (b'x,c\n"1"2,"3\n', MalformedBodyError, "as CSV: a quotation mark is never closed", None),
        (b"x,c\n1,\xe9\n", MalformedBodyError, "not UTF-8", 2),
        (b"x,c\xe9\n1,2\n", MalformedBodyError, "not UTF-8", 1),
        (b"x,c\n" + (b"1," + b"c" * 253 + b"\n") * 2**13 + b"1,\xe9\n", MalformedBodyError, "not UTF-8", 2**13 + 2),
        ("x,c\n1,2\n".encode("utf-16")[:-1], MalformedBodyError, "utf-16", None),
        (b"x,c\x01\n1,2\n", InvalidDataError, "control character", 1),
        (b"x," + b"c" * 10**6 + b"\n1,2\n", InvalidDataError, "too long", None),
        (b"x,c\n1," + b"c" * 100_001 + b"\n", InvalidDataError, "got 100,001", 2),
        (b"x,c\n1," + b"c" * 5 * 10**6 + b"\n", RelevanceError, "Line 2", 2),
    ],
)
def test_a_broken_file_is_refused_with_its_line(
    content: bytes, error: type[RelevanceError], reported: str, line: int | None
) -> None:
    with pytest.raises(error) as refused:
        read_csv(content)
    assert reported in refused.value.detail
    assert (refused.value.faults[0].line if refused.value.faults else None) == line


def test_a_title_above_the_header_is_refused_with_the_option_that_skips_it() -> None:
    with pytest.raises(
        MalformedBodyError, match=r"Line 2, .*Expected 1 cells, got 2\. Where .* a title, set skip_rows"
    ):
        read_csv("Sales of 2024\nx,y\n1,2\n3,4\n")
    with pytest.raises(MalformedBodyError, match=r"Line 3, .*Expected 2 cells, got 1\.$"):
        read_csv("x,y\n1,2\n3\n")


def test_ten_thousand_columns_work_and_more_are_refused() -> None:
    def wide(columns: int) -> str:
        names = ",".join(f"col {n} 😀" for n in range(columns))
        return names + "\n" + "\n".join(",".join(f"{n}.5" for n in range(columns)) for _ in range(3))

    kinds, rows = read_csv(wide(10_000))
    assert len(kinds) == 10_000
    assert set(kinds.values()) == {"number"}
    assert rows[2][9_999] == 9_999.5
    with pytest.raises(TooLargeError, match="got 10,001"):
        read_csv(wide(10_001))


def test_a_fault_in_one_of_many_columns_is_found() -> None:
    names = [f"c{n}" for n in range(500)]
    good, bad = ["1.5"] * 500, ["1.5"] * 499 + ["x"]
    content = "\n".join(",".join(row) for row in [names, *[good] * 5, bad])
    with pytest.raises(InvalidDataError) as refused:
        read_csv(content)
    assert refused.value.faults == (Fault('"x" is not a number.', row=5, column="c499", line=7),)


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@settings(max_examples=examples(15))
@given(
    rows=st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), CELLS), min_size=1, max_size=8),
    delimiter=st.sampled_from(",;\t|"),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_what_the_csv_module_writes_is_read_back(rows: list[tuple[float, str]], delimiter: str, ending: str) -> None:
    text = io.StringIO()
    # All texts are quoted: the csv module leaves a lone carriage return bare, which then ends a line.
    writer = csv.writer(text, delimiter=delimiter, lineterminator=ending, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(["x", "c"])
    writer.writerows(rows)
    declared: dict[str, ColumnKind] = {"x": "number", "c": "category"}
    options = ReadOptions(delimiter=delimiter, decimal=".", header=True)
    _, found = read_csv(text.getvalue(), options, declared)
    assert [row[0] for row in found] == [number for number, _ in rows]
    assert [row[1] for row in found] == [cell.strip() or None for _, cell in rows]
