import gzip
import re
from pathlib import Path

import pytest

from app.cli.rows import batches
from relevance_bayes.cli.rows import Row, RowOptions, text_rows
from relevance_bayes.types.errors import InvalidDataError
from relevance_bayes.types.values import ColumnKind

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
