"""Tables that are wrong in one way each, as a body of each format."""

import io
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from tests.formats.samples.xlsx import row_of, workbook
from tests.table_files import MEDIA_TYPES, ROWS, arrow_stream, npy

MULTIPART = "multipart"
"""A form whose file is CSV; all others are formats of their own."""

FORMATS: tuple[str, ...] = (*ROWS, MULTIPART)
CONTENT_TYPES: Mapping[str, str] = {**MEDIA_TYPES, MULTIPART: "multipart/form-data; boundary=frontier"}

COLUMNAR: Mapping[str, Callable[[pa.Table], bytes]] = {
    "arrow": lambda table: arrow_stream(table),
    "parquet": lambda table: parquet(table),
    "feather": lambda table: feather_file(table),
}
"""The writer of a table in a format of typed columns."""

Cell: TypeAlias = "str | int | float | bool | None"
Columns: TypeAlias = Sequence[tuple[str, Sequence[Cell]]]
"""Names, which may repeat, each with its cells."""

X: tuple[str, Sequence[Cell]] = ("x", (0.5, 1.5, 2.5))
A: tuple[str, Sequence[Cell]] = ("a", (1.0, 2.0, 4.0))
B: tuple[str, Sequence[Cell]] = ("b", (3.0, 5.0, 9.0))
COLOUR: tuple[str, Sequence[Cell]] = ("colour", ("red", "blue", "red"))
GOOD: Columns = (X, A, B)


@dataclass(frozen=True)
class NotExpressible:
    """A rule that no body of a format can break, and the reason."""

    reason: str


@dataclass(frozen=True)
class Body:
    """A body, its Content-Type's parameters behind the media type, and its Content-Encoding."""

    content: bytes
    parameters: str = ""
    encoding: str = ""


class MissingError(LookupError):
    """A format of which there is no body that breaks a rule, and no reason why there can't be one."""

    def __init__(self, rule: str, coded: str) -> None:
        super().__init__(f"expected {rule} in the format {coded!r}: add a case to tests/http/strict_bodies.py")


Made: TypeAlias = "bytes | Body | NotExpressible"

NUMBERS_ALONE = NotExpressible("an array holds numbers alone")
NO_NAMES = NotExpressible("an array has no names")
NO_END = NotExpressible("a table ends wherever its lines do")
NO_TEXT = NotExpressible("the format is not a text")
NO_CONTROLS = NotExpressible("XML has no control characters")
XML = NotExpressible("the texts of a workbook are XML")


def written(coded: str, columns: Columns) -> bytes:
    """A table in a format; a form has it as CSV."""
    rows = list(zip(*(cells for _, cells in columns), strict=True))
    names = [name for name, _ in columns]
    match coded:
        case "json":
            return b'{"rows":[' + b",".join(_object(names, row) for row in rows) + b"]}"
        case "ndjson":
            return b"".join(_object(names, row) + b"\n" for row in rows)
        case "csv":
            return _csv(names, rows)
        case "multipart":
            return form(_csv(names, rows))
        case "xlsx":
            return workbook(_sheet(names, rows))
        case "npy":
            return npy(np.array(rows, np.float64).reshape(len(rows), len(names)))
        case _ if coded in COLUMNAR:
            return COLUMNAR[coded](_table(columns))
    raise MissingError("tables", coded)


def form(content: bytes) -> bytes:
    """A form with CSV as its file."""
    head = b'Content-Disposition: form-data; name="file"; filename="t.csv"\r\nContent-Type: text/csv'
    return b"--frontier\r\n" + head + b"\r\n\r\n" + content + b"\r\n--frontier--\r\n"


def parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, store_schema=False)
    return sink.getvalue().to_pybytes()


def feather_file(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    feather.write_feather(table, sink)
    return sink.getvalue()


def _sheet(names: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    return f"<sheetData>{row_of(names)}{''.join(map(row_of, rows))}</sheetData>"


def _object(names: Sequence[str], row: Sequence[Cell]) -> bytes:
    members = (f"{json.dumps(name)}:{json.dumps(cell)}" for name, cell in zip(names, row, strict=True))
    return f"{{{','.join(members)}}}".encode()


def _csv(names: Sequence[str], rows: Sequence[Sequence[Cell]]) -> bytes:
    lines = [names, *(["" if cell is None else str(cell) for cell in row] for row in rows)]
    return "".join(f"{','.join(line)}\n" for line in lines).encode()


def _table(columns: Columns) -> pa.Table:
    arrays = [_array(cells) for _, cells in columns]
    return pa.Table.from_arrays(arrays, [name for name, _ in columns])


def _array(cells: Sequence[Cell]) -> "pa.Array[pa.Scalar[pa.DataType]]":
    numbers = [cell for cell in cells if not isinstance(cell, str)]
    if not cells:
        return pa.array([], pa.float64())
    return pa.array([str(cell) for cell in cells]) if len(numbers) < len(cells) else pa.array(numbers)


def not_utf8(coded: str) -> Made:
    """Texts of bytes that are no UTF-8: half of a surrogate pair."""
    text = b"\xed\xa0\x80"
    match coded:
        case "json":
            return b'{"rows":[{"x":1,"colour":"%s"}]}' % text
        case "ndjson":
            return b'{"x":1,"colour":"%s"}\n' % text
        case "csv":
            return b"x,colour\n1,%s\n" % text
        case "multipart":
            return form(b"x,colour\n1,%s\n" % text)
        case "npy":
            return NUMBERS_ALONE
        case "xlsx":
            return XML
        case "arrow" | "parquet" | "feather":
            offsets = pa.py_buffer(struct.pack("<ii", 0, len(text)))
            texts = pa.StringArray.from_buffers(1, offsets, pa.py_buffer(text))
            table = pa.Table.from_arrays([pa.array([1.0]), texts], ["x", "colour"])
            return COLUMNAR[coded](table)
    raise MissingError("not_utf8", coded)


def escaped_surrogate(coded: str) -> Made:
    """Half of a surrogate pair as JSON escapes it."""
    match coded:
        case "json":
            return b'{"rows":[{"x":1,"colour":"\\ud800"}]}'
        case "ndjson":
            return b'{"x":1,"colour":"\\ud800"}\n'
        case _:
            return NotExpressible("only JSON escapes characters")


def utf16(coded: str) -> Made:
    """A good table in UTF-16."""
    match coded:
        case "json" | "ndjson" | "csv":
            return written(coded, GOOD).decode().encode("utf-16")
        case "multipart":
            return form(written("csv", GOOD).decode().encode("utf-16"))
        case "arrow" | "parquet" | "feather" | "xlsx" | "npy":
            return NO_TEXT
    raise MissingError("utf16", coded)


def other_charset(coded: str) -> Made:
    """A good table declared to be in Latin-1: of a form, its part."""
    match coded:
        case "json" | "ndjson" | "csv":
            return Body(written(coded, GOOD), "; charset=latin-1")
        case "multipart":
            return written(coded, GOOD).replace(b"text/csv", b"text/csv; charset=latin-1")
        case "arrow" | "parquet" | "feather" | "xlsx" | "npy":
            return NO_TEXT
    raise MissingError("other_charset", coded)


def ragged(coded: str) -> Made:
    """A row of a cell too few."""
    match coded:
        case "json":
            return b'{"names":["x","a","b"],"rows":[[1,2,3],[1,2]]}'
        case "csv":
            return b"x,a,b\n1,2,3\n1,2\n"
        case "multipart":
            return form(b"x,a,b\n1,2,3\n1,2\n")
        case "ndjson":
            return NotExpressible("members have names, so that none is of a wrong place")
        case "xlsx":
            return NotExpressible("a cell that is not there is empty")
        case "arrow" | "parquet" | "feather" | "npy":
            return NotExpressible("the format has whole columns of one length")
    raise MissingError("ragged", coded)


def beyond_float64(coded: str) -> Made:
    """A number that no 64 bits hold."""
    match coded:
        case "json" | "ndjson" | "csv" | "multipart":
            return written(coded, GOOD).replace(b"9.0", b"1e999")
        case "npy":
            return npy(np.array([[1, 2, np.longdouble("1e999")]], np.longdouble))
        case "xlsx":
            return workbook(_sheet(["x", "a", "b"], [[1.0, 2.0, 9.0]]).replace("9.0", "1e999"))
        case "arrow" | "parquet" | "feather":
            return NotExpressible("the format's numbers have 64 bits at most")
    raise MissingError("beyond_float64", coded)


def nested(coded: str) -> Made:
    """A cell that is a list of numbers."""
    match coded:
        case "json":
            return b'{"rows":[{"x":1,"a":2,"b":[1]}]}'
        case "ndjson":
            return b'{"x":1,"a":2,"b":[1]}\n'
        case "npy":
            return npy(np.zeros((1, 3, 1)))
        case "csv" | "multipart" | "xlsx":
            return NotExpressible("a cell has one value")
        case "arrow" | "parquet" | "feather":
            table = pa.table({"x": [1.0], "a": [2.0], "b": [[1.0]]})
            return COLUMNAR[coded](table)
    raise MissingError("nested", coded)


def no_columns(coded: str) -> Made:
    """Rows without a cell."""
    match coded:
        case "json":
            return b'{"rows":[{}]}'
        case "ndjson":
            return b"{}\n"
        case "npy":
            return npy(np.zeros((2, 0)))
        case "csv" | "multipart":
            return NotExpressible("a line is a cell at least")
        case "xlsx":
            return NotExpressible("an empty row is none")
        case "arrow" | "parquet" | "feather":
            return COLUMNAR[coded](pa.table({}))
    raise MissingError("no_columns", coded)


def followed(more: bytes) -> Callable[[str], Made]:
    """A good body with bytes behind its end."""

    def made(coded: str) -> Made:
        match coded:
            case "csv":
                return NO_END
            case "multipart":
                return NotExpressible("what follows the last boundary is no part of a form (RFC 2046, 5.1.1)")
            case _:
                return written(coded, GOOD) + more

    return made


def twice(coded: str) -> Made:
    """A good body behind another."""
    match coded:
        case "json" | "arrow" | "npy":
            return written(coded, GOOD) * 2
        case "ndjson" | "csv" | "multipart":
            return NO_END
        case "parquet" | "feather" | "xlsx":
            return NotExpressible("a file is read from its end, and may hold bytes that its end does not refer to")
    raise MissingError("twice", coded)


def preceded(before: bytes) -> Callable[[str], Made]:
    """A good body with bytes before its beginning: of a form, before its file's."""
    return lambda coded: form(before + written("csv", GOOD)) if coded == "multipart" else before + written(coded, GOOD)


def cut(coded: str) -> Made:
    """The first half of a good body."""
    full = written(coded, GOOD)
    return NO_END if coded == "csv" else full[: len(full) // 2]


def of(columns: Columns, **instead: Made) -> Callable[[str], Made]:
    """A table in each format, but for those with something `instead`."""
    return lambda coded: instead[coded] if coded in instead else written(coded, columns)


def always(content: bytes) -> Callable[[str], Made]:
    """The same bytes in each format."""
    return lambda _: content


def encoded(encoding: str, pack: Callable[[bytes], bytes] = bytes) -> Callable[[str], Made]:
    """A good table with a Content-Encoding."""
    return lambda coded: Body(pack(written(coded, GOOD)), encoding=encoding)
