"""Rows to predict for in CSV: a header names the columns, in any order."""

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from app.formats.cell_faults import MAX_FAULTS_REPORTED, CellFaults
from app.formats.csv_columns import column_of_texts, numbers_of_texts
from app.formats.csv_dialect import Dialect, find_dialect
from app.formats.csv_positions import lines_of
from app.formats.csv_stream import strings_of, text_batches
from app.formats.dates import ISO, checked_format, find_date_formats
from app.formats.expected import Expected, ReadRows, need_rows
from app.formats.options import ReadOptions
from app.formats.separators import PLAIN, find_separators
from app.formats.spool import BodyFile, BodyInMemory
from relevance_bayes.tables.columns import Column
from relevance_bayes.types.errors import Fault


def read_csv(body: bytes, options: ReadOptions, expected: Expected) -> ReadRows:
    """Read the rows of a CSV file, in which an empty cell is a missing value; options not given are detected.

    Raises MalformedBodyError, InvalidDataError for columns other than those expected, InvalidRequestError for an
    invalid delimiter, and TooLargeError.
    """
    file = BodyInMemory(body)
    dialect = find_dialect(file.reader(), replace(options, header=True))
    columns = expected.among(dialect.names, line=dialect.line - 1)
    batches: list[pa.RecordBatch] = []
    rows = 0
    for batch in text_batches(file, dialect):
        rows += batch.num_rows
        expected.check_rows(rows)
        batches.append(batch)
    need_rows(rows)
    table = pa.Table.from_batches(batches)
    numeric = [name for name, kind in columns if kind == "number"]
    read_as_numbers = [(name, table.column(dialect.names.index(name))) for name in numeric]
    # Without quotation marks no cell has a comma, if commas delimit cells: nothing is to be found.
    is_plain = dialect.delimiter == "," and options.decimal is options.thousands is None and b'"' not in body
    separators = PLAIN if is_plain else find_separators(read_as_numbers, dialect.delimiter, options)
    (whole,) = table.combine_chunks().to_batches()
    texts = dict(zip(dialect.names, strings_of(whole), strict=True))
    numbers = numbers_of_texts([texts[name] for name in numeric], separators=separators, exact=[False] * len(numeric))
    read = dict(zip(numeric, numbers, strict=True))
    times = [(name, table.column(dialect.names.index(name))) for name, kind in columns if kind == "timestamp"]
    dates = find_date_formats(times, checked_format(options.date_format))
    read |= {
        name: column_of_texts(kind, texts[name], dates.get(name, ISO)) for name, kind in columns if kind != "number"
    }
    block: dict[str, Column] = {name: read[name][0] for name, _ in columns}
    wrong: list[tuple[str, CellFaults]] = [(name, read[name][1]) for name, _ in columns]
    return ReadRows(block, tuple(_faults(wrong, file, dialect)))


def _faults(wrong: Sequence[tuple[str, CellFaults]], file: BodyFile, dialect: Dialect) -> list[Fault]:
    """Return the faults by row; those of the first rows have lines."""
    reported = sorted(
        ((row, name, detail) for name, cell_faults in wrong for row, detail in cell_faults), key=lambda one: one[0]
    )
    rows = sorted({row for row, _, _ in reported})[:MAX_FAULTS_REPORTED]
    lines = dict(zip(rows, lines_of(file, dialect, rows), strict=False)) if rows else {}
    return [Fault(detail, row=row, column=name, line=lines.get(row)) for row, name, detail in reported]
