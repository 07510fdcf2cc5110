import csv
import gzip
import io
import re
from pathlib import Path

import pytest

from app.cli.rows import batches
from app.formats.cells import Expected
from app.formats.csv_stream import read_csv
from app.formats.format import ReadOptions
from relevance_bayes.cli.prediction_output import write_with_texts
from relevance_bayes.cli.rows import Row, RowOptions, RowReader, text_rows
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.records.values import ColumnKind, NumberForm
from relevance_bayes.tables.columns import NumberArray

KINDS: dict[str, ColumnKind] = {"x": "number", "on": "boolean", "who": "category", "at": "timestamp"}

CSV = """x,on,who,at,note
1.5,true,"Doe, Jane",2024-05-01T12:00:00Z,seen
-2e3,false,,2024-05-02T00:00:00Z,
,,two words,,"a ""quote"" in it"
"""
NDJSON = """{"x": 1.5, "on": true, "who": "Doe, Jane", "at": "2024-05-01T12:00:00Z"}
{"x": -2000, "on": false, "who": null, "at": null}
"""


def rows_of(path: Path, *, size: int = 10) -> list[Row]:
    return [row for batch in text_rows(path, KINDS, size=size, options=RowOptions()) for row in batch]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.csv", CSV),
        ("rows.csv", "\ufeff" + CSV),
        ("rows.csv", CSV.replace("\n", "\r\n")),
        ("rows.tsv", CSV.replace(",", "\t").replace("Doe\t", "Doe,")),
        ("rows.csv", CSV.replace(",", ";").replace("Doe;", "Doe,")),
        ("rows.ndjson", NDJSON),
    ],
    ids=["commas", "byte order mark", "carriage returns", "tabs", "semicolons", "ndjson"],
)
def test_rows_are_read_as_the_service_reads_them(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode())
    expected = [row for batch in batches(path, KINDS, size=10, options=RowOptions()) for row in batch]
    found = rows_of(path)
    assert len(found) == len(expected) > 1
    for one, other in zip(found, expected, strict=True):
        assert one.keys() == other.keys()
        for column in one:
            assert one[column] == other[column]


def test_rows_come_in_batches_of_the_size_requested(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x\n" + "1\n" * 5)
    assert [len(batch) for batch in text_rows(path, KINDS, size=2, options=RowOptions())] == [2, 2, 1]


@pytest.mark.parametrize(
    ("name", "content", "given"),
    [
        ("rows.csv", b"x,who\nabc,a\n", "Expected a number, got 'abc' at line 2, column x."),
        ("rows.csv", b"on\nmaybe\n", "Expected true or false, got 'maybe' at line 2, column on."),
        ("rows.csv", b"x,who\n1\n", "Expected 2 cells as in the header, got 1 at line 2."),
        ("rows.csv", b"x\n\xff\n", "not UTF-8"),
        ("rows.ndjson", b"{\n", "Line 1 is not JSON"),
        ("rows.ndjson", b"[1]\n", "Expected an object"),
        ("rows.parquet", b"PAR1", "Rows of parquet are read by the service only"),
    ],
)
def test_what_is_no_row_is_stated_with_its_place(tmp_path: Path, name: str, content: bytes, given: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidDataError, match="^.*" + re.escape(given)):
        rows_of(path)


def test_rows_of_a_gzip_file_are_those_that_it_contains(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(CSV)
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    assert rows_of(tmp_path / "rows.csv.gz") == rows_of(tmp_path / "rows.csv")
    with pytest.raises(InvalidDataError, match="pass --format"):
        rows_of(tmp_path / "rows.csv.zst")


def test_numbers_have_the_form_of_the_training_as_in_the_service(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,price\n1.5,1.234 €\n2.5,7 €\n")
    kinds: dict[str, ColumnKind] = {"x": "number", "price": "number"}
    for form, value in ((NumberForm("", "€", ",", "."), 1234.0), (NumberForm("", "€"), 1.234)):
        options = RowOptions(forms={"price": form})
        rows = [row for batch in batches(path, kinds, size=10, options=options) for row in batch]
        assert rows == [{"x": 1.5, "price": value}, {"x": 2.5, "price": 7.0}]
        expected = Expected(tuple(kinds.items()), None, frozenset(), 10, 10**6, {"price": form})
        read = read_csv(path.read_bytes(), ReadOptions(), expected).block["price"]
        assert isinstance(read, NumberArray)
        assert read.values.tolist() == [value, 7.0]


@pytest.mark.parametrize("read", [batches, text_rows], ids=["service", "client"])
def test_cells_as_written_are_those_of_the_file_to_the_letter(tmp_path: Path, read: RowReader) -> None:
    written = [
        {"id": "00123", "share": "12 %", "x": "1.50", "day": "31.12.2025", "n": "90071992547409931", "gap": "NA"},
        {"id": "00124", "share": " 7.5 %", "x": "-2e3", "day": "01.01.2026", "n": "3", "gap": ""},
        {"id": "", "share": "1,000.0 %", "x": "+3", "day": "", "n": "4.0", "gap": '"a" or b'},
    ]
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [*written[0]])
        writer.writeheader()
        writer.writerows(written)
    options = RowOptions(as_written=True)
    found = [*read(path, {"x": "number", "share": "number"}, size=2, options=options)]
    assert [len(batch) for batch in found] == [2, 1]
    assert [row for batch in found for row in batch] == written


def test_cells_as_written_follow_the_options_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("a title\n1,50;é\n2,25;\\N\n".encode("cp1252"))
    options = RowOptions(skip_rows=1, encoding="cp1252", delimiter=";", has_header=False, as_written=True)
    rows = [row for batch in batches(path, {}, size=10, options=options) for row in batch]
    assert rows == [{"column_1": "1,50", "column_2": "é"}, {"column_1": "2,25", "column_2": "\\N"}]


def test_a_blank_line_of_one_column_is_a_row_as_written_too(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x\n1\n\n3\n")
    for read in (batches, text_rows):
        as_written = RowOptions(as_written=True)
        values = [row for batch in read(path, {"x": "number"}, size=10, options=RowOptions()) for row in batch]
        texts = [row for batch in read(path, {}, size=10, options=as_written) for row in batch]
        assert [row["x"] for row in values] == [1.0, None, 3.0]
        assert [row["x"] for row in texts] == ["1", "", "3"]


def test_a_file_that_has_changed_since_its_upload_is_not_written_beside_predictions() -> None:
    predicted = '"id","mean"\n1,0.5\n2,1.5\n'
    for kept in ([["01"]], [["01"], ["02"], ["03"]]):
        with pytest.raises(InvalidDataError, match="another number of rows"):
            write_with_texts(io.StringIO(), io.StringIO(predicted), kept, escapes_formulas=False)
    out = io.StringIO()
    write_with_texts(out, io.StringIO(predicted), [["01"], ["02"]], escapes_formulas=False)
    assert out.getvalue() == "id,mean\n01,0.5\n02,1.5\n"
