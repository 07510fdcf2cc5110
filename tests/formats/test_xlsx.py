"""Workbooks: cells are what the same CSV has, and no file takes more than it may."""

import io
import time
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from datetime import time as time_of_day

import pytest
from openpyxl import Workbook

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cells import Expected
from app.formats.format import ReadOptions
from app.formats.xlsx_rows import open_xlsx, read_xlsx
from relevance_bayes.records.errors import InvalidDataError, InvalidRequestError, RelevanceError
from relevance_bayes.records.values import ColumnKind
from tests.formats.files import Table, read_csv, spooled, table_of
from tests.formats.samples.xlsx import NAMESPACE, PARTS, TYPE, row_of, workbook, written

QUICKLY = 5.0
"""Seconds, on a busy machine."""


def opened(content: bytes, sheet: str | None = None, declared: Mapping[str, ColumnKind] | None = None) -> Table:
    with spooled(content) as file:
        return table_of(open_xlsx(file, ReadOptions(sheet=sheet), declared=declared or {}, max_columns=100))


def saved(book: Workbook) -> bytes:
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def of(*rows: tuple[object, ...]) -> bytes:
    """A workbook of openpyxl with the rows in its first sheet."""
    book = Workbook()
    for row in rows:
        book.active.append(row)
    return saved(book)


def refused(content: bytes, kind: type[RelevanceError], given: str) -> None:
    """Quickly, as a table and as rows to predict for."""
    begun = time.process_time()
    with pytest.raises(kind, match=given):
        opened(content)
    with pytest.raises(kind, match=given):
        read_xlsx(io.BytesIO(content), ReadOptions(), EXPECTED)
    assert time.process_time() - begun < QUICKLY


EXPECTED = Expected((("x", "number"), ("c", "category")), None, frozenset({"y"}), max_rows=100, max_bytes=10**6)


def test_cells_become_what_the_same_csv_gives() -> None:
    at = datetime(2024, 5, 1, 12, 30, 15)  # noqa: DTZ001 - a workbook has no time zones
    book = of(
        ("n", "b", "day", "at", "of day", "lasts", "c", 2024, None, "e"),
        (1, True, date(2024, 5, 1), at, time_of_day(9, 5), timedelta(hours=26, minutes=1), " red ", "x", 1.5, "é😀"),
        (None, None, None, None, None, None, "", None, None, None),
        (
            2.5,
            False,
            date(1999, 12, 31),
            at + timedelta(days=1),
            time_of_day(0, 0, 1),
            timedelta(),
            "blue",
            "y",
            -3,
            "n",
        ),
    )
    text = (
        "n,b,day,at,of day,lasts,c,2024,,e\n"
        "1,true,2024-05-01,2024-05-01T12:30:15,09:05:00,26:01:00, red ,x,1.5,é😀\n"
        ",,,,,,,,,\n"
        "2.5,false,1999-12-31,2024-05-02T12:30:15,00:00:01,0:00:00,blue,y,-3,n\n"
    )
    table = opened(book)
    assert table[0] == {
        "n": "number",
        "b": "boolean",
        "day": "timestamp",
        "at": "timestamp",
        "of day": "category",
        "lasts": "category",
        "c": "category",
        "2024": "category",
        "column_9": "number",
        "e": "category",
    }
    kinds, rows = read_csv(text, declared={"of day": "category"})
    assert (table[0], table[1]) == (kinds, rows)
    assert rows[0][3] == datetime(2024, 5, 1, 12, 30, 15, tzinfo=UTC).isoformat().replace("+00:00", "Z")


def test_dates_count_from_1904_where_the_workbook_states_it() -> None:
    book = Workbook()
    book.epoch = datetime(1904, 1, 1)  # noqa: DTZ001
    book.active.append(("day",))
    book.active.append((date(2024, 5, 1),))
    assert opened(saved(book)) == ({"day": "timestamp"}, [["2024-05-01T00:00:00Z"]])


def test_the_first_sheet_is_read_and_any_other_that_is_named() -> None:
    book = Workbook()
    book.active.append(("x",))
    book.active.append((1,))
    other = book.create_sheet("second one")
    other.append(("y",))
    other.append(("a",))
    content = saved(book)
    assert opened(content) == ({"x": "number"}, [[1.0]])
    assert opened(content, "second one") == ({"y": "category"}, [["a"]])
    with pytest.raises(InvalidRequestError, match='one of the sheets "Sheet", "second one"; got "third"') as missing:
        opened(content, "third")
    assert [fault.parameter for fault in missing.value.faults] == ["sheet"]


def test_formulas_are_the_values_that_were_computed_last() -> None:
    sheet = (
        f"<sheetData>{row_of(['x', 'c'])}"
        "<row><c><f>1+1</f><v>7</v></c><c t='str'><f>A1</f><v></v></c></row>"
        f"{row_of([3, 'a'])}</sheetData>"
    )
    assert opened(workbook(sheet)) == ({"x": "number", "c": "category"}, [[7.0, None], [3.0, "a"]])


@pytest.mark.parametrize("formula", ["<f>A2*2</f><v></v>", "<f>A2*2</f><v/>", "<f>A2*2</f>"])
def test_formulas_that_were_never_computed_are_refused_with_their_cells(formula: str) -> None:
    rows = "".join(f"<row><c><v>{n}</v></c><c r='B{n}'>{formula}</c></row>" for n in range(2, 5))
    content = workbook(f"<sheetData>{row_of(['x', 'y'])}{rows}</sheetData>")
    refused(content, InvalidDataError, "The formulas of B2, B3, B4 were never computed")


def test_formulas_of_other_sheets_need_no_values() -> None:
    book = Workbook()
    book.active.append(("x",))
    book.active.append((1,))
    book.create_sheet("other").append(("=1+1",))
    assert opened(saved(book)) == ({"x": "number"}, [[1.0]])
    with pytest.raises(InvalidDataError, match="The formulas of A1"):
        opened(saved(book), "other")


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_the_first_visible_sheet_is_read(state: str) -> None:
    book = Workbook()
    book.active.append(("notes",))
    book.active.append(("a",))
    book.active.sheet_state = state
    other = book.create_sheet("data")
    other.append(("x",))
    other.append((1,))
    assert opened(saved(book)) == ({"x": "number"}, [[1.0]])
    assert opened(saved(book), "Sheet") == ({"notes": "category"}, [["a"]])


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["10", "20.5", "30"], "number", [10.0, 20.5, 30.0]),
        ([10, "20.5", 30], "number", [10.0, 20.5, 30.0]),
        (["TRUE", "false", True], "boolean", [True, False, True]),
        (["2024-01-31", "2024-02-01"], "timestamp", ["2024-01-31T00:00:00Z", "2024-02-01T00:00:00Z"]),
        (["31.01.2024", "01.02.2024"], "timestamp", ["2024-01-31T00:00:00Z", "2024-02-01T00:00:00Z"]),
        (["12 %", "7.5 %"], "number", [12.0, 7.5]),
        (["01234", "90210"], "category", ["01234", "90210"]),
        (["1", "NA", "3"], "number", [1.0, None, 3.0]),
        (["x", "#N/A", "z"], "category", ["x", None, "z"]),
        ([1, "#N/A", 3], "number", [1.0, None, 3.0]),
        (["NA", "SE"], "category", ["NA", "SE"]),
        (["12345678901234567", "1"], "category", ["12345678901234567", "1"]),
    ],
)
def test_texts_are_read_as_those_of_a_csv(cells: list[object], kind: ColumnKind, values: list[object]) -> None:
    kinds, rows = opened(of(("k", "v"), *enumerate(cells)))
    assert (kinds["v"], [row[1] for row in rows]) == (kind, values)
    expected = Expected((("v", kind),), None, frozenset({"k"}), 100, 10**6)
    assert read_xlsx(io.BytesIO(of(("k", "v"), *enumerate(cells))), ReadOptions(), expected).cell_faults == ()


@pytest.mark.parametrize("before", [1_000, 1_500])
def test_a_late_number_as_text_is_a_number(before: int) -> None:
    _, rows = opened(of(("x",), *[(1,)] * before, ("20.5",), (2,)))
    assert rows[-2:] == [[20.5], [2.0]]


def test_listed_missing_values_are_those_of_cells_with_numbers_too() -> None:
    book = of(("n", "b", "c"), (-9, True, "x"), (2.5, -9, "-9"), (3, False, "NA"))
    with spooled(book) as file:
        options = ReadOptions(missing_values=("-9",))
        kinds, rows = table_of(open_xlsx(file, options, declared={}, max_columns=100))
    assert kinds == {"n": "number", "b": "boolean", "c": "category"}
    assert rows == [[None, True, "x"], [2.5, None, None], [3.0, False, "NA"]]


def test_rows_above_the_names_are_skipped_on_request() -> None:
    content = of(("Sales of 2024",), (None,), ("x", "y"), (1, 2))
    with pytest.raises(InvalidDataError, match=r"Row 3 of the sheet: .* row 1 of the sheet names; .* set skip_rows"):
        opened(content)
    with spooled(content) as file:
        found = table_of(open_xlsx(file, ReadOptions(skip_rows=2), declared={}, max_columns=9))
    assert found == ({"x": "number", "y": "number"}, [[1.0, 2.0]])


def test_empty_rows_and_columns_at_the_edges_are_not_there() -> None:
    content = of((None,), ("x", "y", None), (1, None, None), (None, None, None), (2, "a", None), (None,), (" ",))
    assert opened(content) == ({"x": "number", "y": "category"}, [[1.0, None], [None, None], [2.0, "a"]])


def test_rows_to_predict_for_are_found_by_name_and_faults_are_reported_by_row_and_column() -> None:
    content = of(("c", "y", "x"), ("red", 1, 2), ("blue", None, "two"), (None, None, None), ("red", None, 3))
    read = read_xlsx(io.BytesIO(content), ReadOptions(), EXPECTED)
    assert [(fault.row, fault.sheet_row, fault.column) for fault in read.cell_faults] == [(1, 3, "x")]
    assert str(read.cell_faults[0]) == 'row 3 of the sheet, row 2 of the data, column x: "two" is not a number.'
    with pytest.raises(InvalidDataError) as unknown:
        read_xlsx(io.BytesIO(of(("c", "z"), ("red", 1))), ReadOptions(), EXPECTED)
    assert [(fault.column, fault.detail) for fault in unknown.value.faults] == [
        ("x", "The column is missing."),
        ("z", "There is no such column."),
    ]
    many = of(("c", "x"), *[("red", 1)] * 101)
    with pytest.raises(TooLargeError, match="at most 100 rows"):
        read_xlsx(io.BytesIO(many), ReadOptions(), EXPECTED)


@pytest.mark.parametrize(
    ("content", "given"),
    [
        (of(), "The sheet is empty"),
        (of((" ",)), "The sheet is empty"),
        (of(("x", "y")), "no rows"),
        (of(("x",), (1, 2)), "Row 2 of the sheet: The row has a value to the right of the 1 columns"),
        (of(("x",), *[(1,)] * 30, ("one",)), 'Row 32 of the sheet, column "x": "one" is not a number'),
        (of(("x",), *[(1,)] * 30, ("#DIV/0!",)), 'Row 32 of the sheet, column "x": "#DIV/0!" is not a number'),
        (of(("x",), *[("a",)] * 30, ("#REF!",)), 'Row 32 of the sheet, column "x": The cell has the error #REF!'),
        (
            workbook(f"<sheetData>{row_of(['x'])}<row><c><v>1e999</v></c></row></sheetData>"),
            "inf is not a finite number",
        ),
    ],
)
def test_a_sheet_that_is_no_table_is_refused_with_its_place(content: bytes, given: str) -> None:
    with pytest.raises(InvalidDataError, match=given):
        opened(content)


def zipped(parts: Mapping[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "given"),
    [
        (b"", "truncated"),
        (b"x,y\n1,2\n", "truncated"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "older .xls"),
        (written([{"x": 1.0}])[:-30], "truncated"),
        (zipped({}), "corrupt"),
        (zipped({"a.txt": "text"}), "corrupt"),
        (zipped({**PARTS, "[Content_Types].xml": "<Types/>"}), "corrupt"),
        (zipped({**PARTS, "xl/worksheets/sheet1.xml": "<worksheet><sheetData>"}), "corrupt"),
        (workbook("<sheetData><row><c r='A0x'><v>1</v></c></row></sheetData>"), "corrupt"),
        (workbook(f"<sheetData><row><c><v>{'9' * 5_000}</v></c></row></sheetData>"), "corrupt"),
        (workbook("<sheetData><row><c t='s'><v>7</v></c></row></sheetData>"), "corrupt"),
        (workbook("<sheetData><row r='x'><c/></row></sheetData>"), "corrupt"),
        (zipped({**PARTS, "xl/worksheets/sheet1.xml": b"\xff\xfe\x00"}, zipfile.ZIP_LZMA), "another method"),
    ],
)
def test_what_is_no_workbook_or_a_broken_one_is_refused(content: bytes, given: str) -> None:
    refused(content, MalformedBodyError, given)


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = zipped({**PARTS, "xl/worksheets/sheet1.xml": b" " * (2**27 + 1)})
    assert len(bomb) < 200_000
    refused(bomb, TooLargeError, "at most 134,217,728 bytes once decompressed")


def test_parts_that_lie_on_each_other_count_for_themselves() -> None:
    """As in the bomb whose files share the same packed bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("kernel", b" " * 2**24)
        (kernel,) = archive.infolist()
        for number in range(20):
            other = zipfile.ZipInfo("kernel")
            for name in ("compress_type", "CRC", "compress_size", "file_size", "header_offset", "flag_bits"):
                setattr(other, name, getattr(kernel, name))
            other.filename = f"kernel{number}"
            archive.filelist.append(other)
    refused(content.getvalue(), TooLargeError, "once decompressed")


ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
BOMB = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "ha">{ENTITIES}]>'


@pytest.mark.parametrize("part", [*PARTS, "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused_in_every_part_before_they_are_expanded(part: str, encoding: str) -> None:
    text = f"{BOMB}<x>&e9;</x>".encode(encoding)
    sound = {**PARTS, "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{NAMESPACE}"><sheetData/></worksheet>'}
    refused(zipped({**sound, part: text}), MalformedBodyError, "document type")


def test_an_entity_of_another_file_is_refused_too() -> None:
    text = '<!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd">]><x>&file;</x>'
    refused(zipped({**PARTS, "xl/worksheets/sheet1.xml": text}), MalformedBodyError, "document type")


def test_more_elements_than_may_be_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.formats.xlsx_rows.MAX_ELEMENTS", 500)
    refused(
        workbook(f"<sheetData>{row_of(['x'])}{row_of([1]) * 200}</sheetData>"), TooLargeError, "at most 500 elements"
    )


def test_a_row_or_a_part_that_is_read_at_once_is_not_too_large() -> None:
    refused(
        workbook(f"<sheetData><row>{'<c/>' * 100_001}</row></sheetData>"), TooLargeError, "Expected rows of at most"
    )
    styles = {**PARTS, "xl/styles.xml": f'<styleSheet xmlns="{NAMESPACE}">{"<row/>" * 100_001}</styleSheet>'}
    refused(
        workbook("<sheetData/>", styles), TooLargeError, "xl/styles.xml: expected at most 100,000 elements, got 100,002"
    )
    sheets = "<row/>" * 100_001
    listed = {**PARTS, "xl/workbook.xml": f'<workbook xmlns="{NAMESPACE}">{sheets}</workbook>'}
    refused(
        workbook("<sheetData/>", listed),
        TooLargeError,
        "xl/workbook.xml: expected at most 100,000 elements, got 100,002",
    )
    elsewhere = {**PARTS, "[Content_Types].xml": PARTS["[Content_Types].xml"].replace("/xl/workbook", "/a/b")}
    elsewhere["a/b.xml"] = listed["xl/workbook.xml"]
    assert TYPE in elsewhere["[Content_Types].xml"]
    refused(
        workbook("<sheetData/>", elsewhere), TooLargeError, "a/b.xml: expected at most 100,000 elements, got 100,002"
    )


def test_rows_and_columns_that_are_claimed_to_be_far_away_cost_nothing() -> None:
    """Neither the dimensions that the file claims are believed, nor is a row in the billions waited for."""
    sheet = f"<dimension ref='A1:XFD1048576'/><sheetData>{row_of(['x'])}{row_of([1])}</sheetData>"
    assert opened(workbook(sheet)) == ({"x": "number"}, [[1.0]])
    far = f"<sheetData>{row_of(['x', 'c'])}<row r='4000000000'><c><v>1</v></c></row></sheetData>"
    refused(workbook(far), TooLargeError, "at most 1,048,576 rows")
    wide = "".join(f"<row><c r='XFD{n}'><v>1</v></c></row>" for n in range(1, 1_000))
    refused(workbook(f"<sheetData>{row_of(['x', 'c'])}{wide}</sheetData>"), TooLargeError, "8,388,608 cells")


def test_charts_links_and_encryption_are_not_followed() -> None:
    book = Workbook()
    book.active.append(("x",))
    book.create_chartsheet()
    refused(saved(book), InvalidDataError, "a chart sheet")
    content = bytearray(written([{"x": 1.0}]))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := content.find(mark, at + 1)) >= 0:
            content[at + place] |= 1
    refused(bytes(content), InvalidDataError, "encrypted")


def test_a_spoiled_workbook_is_read_or_refused() -> None:
    content = written([{"x": 1.0, "c": "a"}, {"x": 2.0, "c": "b"}])
    read = 0
    for place in range(len(content)):
        spoiled = bytearray(content)
        spoiled[place] ^= 0x55
        with suppress(RelevanceError):
            opened(bytes(spoiled))
            read += 1
    assert 0 < read < len(content)


@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/styles.xml", "docProps/other.xml"])
@pytest.mark.parametrize(
    "token", [b"<a b='%s'/>", b"<!--%s-->", b"<?a %s?>", b"<%s/>"], ids=["attribute", "comment", "instruction", "name"]
)
def test_a_long_token_is_refused_before_it_is_parsed_again_and_again(part: str, token: bytes) -> None:
    """A parser begins an unfinished token anew with each piece, so that the time grows with the square of its size."""
    content = zipped({**PARTS, part: b"<x>" + token % (b"a" * 10**7)})
    assert len(content) < 150_000
    refused(content, TooLargeError, "expected tags and comments of at most 262,144 bytes")


def test_long_texts_are_no_tokens() -> None:
    comments = "<!-- a comment -->" * 30_000
    text = "a" * 99_999
    sheet = f"{comments}<sheetData>{row_of(['x'])}{row_of([text]) * 20}</sheetData>"
    assert opened(workbook(sheet))[1] == [[text]] * 20


@pytest.mark.parametrize(
    ("part", "element"), [("xl/worksheets/sheet1.xml", "c"), ("xl/styles.xml", "xf"), ("xl/styles.xml", "row")]
)
def test_attributes_that_are_read_at_once_are_bounded(part: str, element: str) -> None:
    attributes = " ".join(f"a{n}='{n}'" for n in range(1_000))
    content = zipped({**PARTS, part: f"<x>{f'<{element} {attributes}/>' * 700}</x>"})
    assert len(content) < 100_000
    refused(content, TooLargeError, "fewer or shorter attributes")
