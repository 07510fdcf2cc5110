"""Names of columns as files have them: twice, too long, with line breaks; and files that are something else."""

import io
import pickle
import zipfile

import pytest

from app.errors import MalformedBodyError
from app.formats.format import ReadOptions
from app.formats.streams import stored_names
from relevance_bayes.records.datasets import ColumnReading
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.records.values import TextEncoding
from tests.formats.files import read_again, read_csv


def test_names_are_made_usable_and_the_given_ones_are_kept() -> None:
    long = "n" * 201
    names = ["x", "x", "x_2", "x", "two\nlines", long]
    stored, given = stored_names(names)
    assert stored == ("x", "x_3", "x_2", "x_4", "two lines", "n" * 200)
    assert given == {"x_3": "x", "x_4": "x", "two lines": "two\nlines", "n" * 200: long}
    assert len({*stored_names([long, long])[0]}) == 2


def test_a_file_with_a_name_twice_is_read_with_numbered_names() -> None:
    (kinds, rows), readings = read_again(b'x,x,"a\nb"\n1,2,3\n', ReadOptions(), {})
    assert (list(kinds), rows) == (["x", "x_2", "a b"], [[1.0, 2.0, 3.0]])
    assert readings == {"x_2": ColumnReading(given_name="x"), "a b": ColumnReading(given_name="a\nb")}


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("\ufeff\ufeffx,y\n1,2\n", ["x", "y"]),
        ("sep=;\nx;y\n1;2\n", ["x", "y"]),
        ('"sep=|"\r\nx|y\r\n1|2\r\n', ["x", "y"]),
        ("# made by a program\n# on Monday\n\nx|y\n1|2\n", ["x", "y"]),
        ("#x,y\n1,2\n", ["#x", "y"]),
        ("##version=4\n#x\ty\n1\t2\n", ["#x", "y"]),
        ("#\n1\n2\n", ["#"]),
    ],
)
def test_what_precedes_the_table_is_not_its_header(content: str, names: list[str]) -> None:
    kinds, rows = read_csv(content)
    assert list(kinds) == names
    assert rows[0] == [float(position + 1) for position in range(len(names))]


def test_lines_of_faults_count_what_precedes_the_table() -> None:
    with pytest.raises(InvalidDataError, match="Line 6"):
        read_csv("# a\n# b\n\nx,y\n1,2\nabc,3\n4,5\n")


def test_lines_above_the_table_are_skipped_on_request() -> None:
    content = "Sales of 2024\n\nx,y\n1,2\n"
    assert read_csv(content, ReadOptions(skip_rows=2)) == ({"x": "number", "y": "number"}, [[1.0, 2.0]])


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ('a, b\n"x", "1.5"\n"u, v", "2.5"\n', [["x", 1.5], ["u, v", 2.5]]),
        ('a,b\n"x \\"q\\" y",2\n"z, \\"w\\"",3\n', [['x "q" y', 2.0], ['z, "w"', 3.0]]),
        ('a,b\n"C:\\dir\\",2\n"D:\\",3\n', [["C:\\dir\\", 2.0], ["D:\\", 3.0]]),
        ('a,b\n"he said, ""yes""",2\nz,3\n', [['he said, "yes"', 2.0], ["z", 3.0]]),
    ],
)
def test_quotation_marks_are_read_as_their_writers_meant(content: str, rows: list[list[object]]) -> None:
    assert read_csv(content)[1] == rows


@pytest.mark.parametrize("content", ["a b c\n1 2 3\n4 5 6\n", "a   b\n1   x\n22  y\n"])
def test_columns_between_blanks_are_refused_with_the_delimiter_to_set(content: str) -> None:
    with pytest.raises(InvalidDataError, match='delimiter=" "') as refused:
        read_csv(content)
    assert refused.value.faults[0].parameter == "delimiter"


def test_names_of_two_words_are_no_columns() -> None:
    assert read_csv("full name\nAnn Lee\nBob Ray\n")[0] == {"full name": "category"}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_other_encodings_are_known_by_their_byte_order_mark(encoding: str) -> None:
    bom = "" if encoding in {"utf-16", "utf-32"} else "\ufeff"
    content = f"{bom}naïve,y\né😀,2\nz,3\n".encode(encoding)
    assert read_csv(content) == ({"naïve": "category", "y": "number"}, [["é😀", 2.0], ["z", 3.0]])


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_other_encodings_are_read_on_request(encoding: TextEncoding) -> None:
    content = "naïve,y\né,2\nz,3\n".encode(encoding)
    with pytest.raises(MalformedBodyError, match=r'Line 1: .* or set encoding="cp1252"'):
        read_csv(content)
    assert read_csv(content, ReadOptions(encoding=encoding))[1] == [["é", 2.0], ["z", 3.0]]


def archive(name: str, content: str = "") -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as zipped:
        zipped.writestr(name, content)
    return body.getvalue()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "a pointer of Git LFS"),
        (b"<!DOCTYPE html>\n<html><body>Not found</body></html>\n", "an HTML page"),
        (b"\n <html lang=en><p>x,y</p>\n", "an HTML page"),
        (b"<?xml version='1.0'?><rows/>\n", "XML"),
        (archive("mimetype", "application/vnd.oasis.opendocument.spreadsheet"), "an OpenDocument file"),
        (archive("xl/workbook.bin"), "a binary workbook"),
        (archive("xl/workbook.xml"), "a workbook; send it as xlsx"),
        (archive("data.csv", "x,y\n1,2\n"), "a ZIP archive"),
        (pickle.dumps({"x": [1, 2]}), "a pickle"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an older Office file"),
        (b"PAR1" + bytes(60), "Parquet"),
        (b"\x1f\x8b\x08\x00abc", "compressed with gzip"),
    ],
)
def test_files_of_other_kinds_are_refused_for_what_they_are(content: bytes, kind: str) -> None:
    with pytest.raises(MalformedBodyError, match=f"Expected CSV; the file is {kind}"):
        read_csv(content)
