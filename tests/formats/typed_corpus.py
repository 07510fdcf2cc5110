"""`python -m tests.formats.typed_corpus FOLDER ...`: files with types, read as uploads, beside pyarrow and openpyxl.

The files are those that packages ship as Parquet, Feather, Arrow and workbooks, and tables that they ship as texts,
written by pandas, polars and openpyxl. Of each column the first cell that is not what the second reader has is printed.
"""

import io
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq

from app.errors import MalformedBodyError, TooLargeError
from app.formats import TABLE_FORMATS, by_suffix
from relevance_bayes.records.datasets import ColumnReading
from relevance_bayes.records.errors import InvalidDataError, InvalidRequestError
from relevance_bayes.records.values import Cell, ColumnKind, text_of
from tests.formats.corpus import MAX_BYTES, TRUTHS, files_of, number_of, same_time
from tests.formats.files import read_file

SUFFIXES = (".parquet", ".feather", ".arrow", ".xlsx")
UNNAMED = re.compile(r"__index_level_\d+__")
MAX_ROWS = 2_000
"""The number of rows of a table that are written to other formats."""

Columns = Sequence[Sequence[object]]


@dataclass
class TypedOutcome:
    """Files and cells that both readers read, and the columns that differ; `refused` counts the reasons."""

    files: Counter[str] = field(default_factory=Counter)
    cells: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    different: list[str] = field(default_factory=list)

    def add(self, called: str, suffix: str, content: bytes) -> None:
        """Read a file by both readers."""
        found = by_suffix(TABLE_FORMATS, f"x{suffix}")
        assert found is not None
        try:
            (kinds, rows), readings = read_file(found.name, content)
        except (InvalidDataError, InvalidRequestError, MalformedBodyError, TooLargeError) as refused:
            self.refused[" ".join(str(refused).split()[-8:])] += 1
            return
        theirs = READERS[suffix](content)
        self.files[suffix] += 1
        if len(theirs) != len(kinds) or any(len(column) != len(rows) for column in theirs):
            self.different.append(f"{called}: {len(kinds)} columns of {len(rows)} rows, not {len(theirs)}")
            return
        for place, (name, kind) in enumerate(kinds.items()):
            for number, (row, cell) in enumerate(zip(rows, theirs[place], strict=True), 1):
                self.cells += 1
                if not is_same(kind, row[place], cell, readings.get(name)):
                    self.different.append(f"{called}: row {number}, {name}: {cell!r} is {row[place]!r} ({kind})")
                    break


def is_same(kind: ColumnKind, mine: Cell, theirs: object, reading: ColumnReading | None) -> bool:
    """Return whether a cell is what the second reader has, a value of its type."""
    if mine is None:
        missing = () if reading is None else reading.missing_texts or ()
        is_text = isinstance(theirs, str) and theirs.strip() in {"", "#N/A", *(one.text for one in missing)}
        return theirs is None or theirs != theirs or is_text
    match theirs:
        case bool():
            return mine is theirs if kind == "boolean" else mine == text_of(theirs)
        case int() | float() | Decimal():
            text = f"{theirs:f}" if isinstance(theirs, Decimal) else text_of(theirs)
            return float(theirs) == mine if kind == "number" else mine == text
        case datetime():
            moment = theirs.replace(tzinfo=UTC) if theirs.tzinfo is None else theirs
            return _is_at(moment, mine) if kind == "timestamp" else str(mine) == theirs.isoformat()
        case date():
            return _is_at(datetime(theirs.year, theirs.month, theirs.day, tzinfo=UTC), mine)
        case time():
            return mine == theirs.isoformat()
        case str():
            return _is_text(kind, mine, theirs.strip(), theirs, reading)
    return False


def _is_text(kind: ColumnKind, mine: Cell, stripped: str, text: str, reading: ColumnReading | None) -> bool:
    match kind:
        case "category":
            return mine in {text, stripped}
        case "boolean":
            return TRUTHS.get(stripped.lower()) is mine
        case "number":
            return number_of(stripped, reading) == mine
        case "timestamp":
            return same_time(stripped, str(mine), None if reading is None else reading.date_format)


def _is_at(moment: datetime, cell: Cell) -> bool:
    return abs((moment - datetime.fromisoformat(str(cell))).total_seconds()) < 1e-5


def _of_table(table: pa.Table) -> Columns:
    kept = [name for name in table.column_names if not UNNAMED.fullmatch(name)] or table.column_names
    return [table.column(name).to_pylist() for name in kept]


def _of_workbook(content: bytes) -> Columns:
    sheets = openpyxl.load_workbook(io.BytesIO(content), data_only=True).worksheets
    sheet = next(one for one in sheets if one.sheet_state == "visible")
    header, *rows = ([*row] for row in sheet.iter_rows(values_only=True) if any(cell is not None for cell in row))
    width = max(place for place, cell in enumerate(header, 1) if cell is not None)
    return [*zip(*(row[:width] for row in rows), strict=True)]


READERS: Mapping[str, Callable[[bytes], Columns]] = {
    ".parquet": lambda content: _of_table(pq.read_table(pa.BufferReader(content))),
    ".feather": lambda content: _of_table(pf.read_table(io.BytesIO(content))),
    ".arrow": lambda content: _of_table(pa.ipc.open_stream(content).read_all()),
    ".xlsx": _of_workbook,
}
"""The second reader of each format, from the content to columns of values."""


def shipped(folders: Sequence[Path]) -> Iterator[tuple[str, str, bytes]]:
    """Yield the name, suffix and content of files with types below the folders."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in SUFFIXES and path.is_file() and path.stat().st_size <= MAX_BYTES:
                yield str(path), path.suffix, path.read_bytes()


def written(folders: Sequence[Path]) -> Iterator[tuple[str, str, bytes]]:
    """Yield the name, suffix and content of tables that are shipped as texts, in each format by each library."""
    for path in files_of(folders):
        try:
            frame = pd.read_csv(path, nrows=MAX_ROWS, comment="#")
        except (ValueError, UnicodeDecodeError):  # no table for pandas
            continue
        if not frame.empty:
            for writer, (suffix, write) in WRITERS.items():
                yield f"{path} by {writer}", suffix, write(frame)


def _into(write: Callable[[io.BytesIO], object]) -> bytes:
    out = io.BytesIO()
    write(out)
    return out.getvalue()


def _stream(frame: pd.DataFrame) -> bytes:
    table = pa.Table.from_pandas(frame)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=500)
    return sink.getvalue().to_pybytes()


WRITERS: Mapping[str, tuple[str, Callable[[pd.DataFrame], bytes]]] = {
    "pandas": (".parquet", lambda frame: _into(frame.sample(frac=1.0, random_state=0).to_parquet)),
    "pandas feather": (".feather", lambda frame: _into(frame.to_feather)),
    "polars": (".parquet", lambda frame: _into(pl.from_pandas(frame).write_parquet)),
    "pyarrow": (".arrow", _stream),
    "openpyxl": (".xlsx", lambda frame: _into(lambda out: frame.to_excel(out, index=False, engine="openpyxl"))),
}


if __name__ == "__main__":
    outcome, given = TypedOutcome(), [Path(one) for one in sys.argv[1:]]
    for files in (shipped(given), written(given)):
        for one in files:
            outcome.add(*one)
    lines = [*outcome.different, *(f"{times:4} {reason}" for reason, times in outcome.refused.most_common(20))]
    lines.append(f"{dict(outcome.files)} files and {outcome.cells:,} cells are compared")
    sys.stdout.write("\n".join([*lines, f"{len(outcome.different)} columns differ", ""]))
