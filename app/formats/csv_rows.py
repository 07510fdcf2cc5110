"""Rows to predict for in CSV: a header names the columns, in any order."""

from dataclasses import replace

import pyarrow as pa

from app.formats.cell_faults import MAX_FAULTS_REPORTED, faults_of
from app.formats.csv_columns import column_of_texts, numbers_of_texts
from app.formats.csv_dialect import find_dialect
from app.formats.csv_positions import dialect_of_all, with_lines
from app.formats.csv_readings import row_readings
from app.formats.csv_stream import strings_of, text_batches
from app.formats.encodings import in_utf8
from app.formats.expected import Expected, ReadRows, need_rows
from app.formats.names import stored_names
from app.formats.options import ReadOptions
from app.formats.spool import BodyInMemory
from relevance_bayes.tables.columns import Column


def read_csv(body: bytes, options: ReadOptions, expected: Expected) -> ReadRows:
    """Read the rows of a CSV file, in which an empty cell is a missing value; options not given are detected.

    Raises MalformedBodyError, InvalidDataError for columns other than those expected, InvalidRequestError for an
    invalid delimiter, and TooLargeError.
    """
    file = in_utf8(BodyInMemory(body), options.encoding)
    dialect = dialect_of_all(file, find_dialect(file.reader(), replace(options, header=True)))
    names, _ = stored_names(dialect.names)
    columns = expected.among(names, line=dialect.line - 1)
    batches: list[pa.RecordBatch] = []
    rows = 0
    for batch in text_batches(file, dialect):
        rows += batch.num_rows
        expected.check_rows(rows)
        batches.append(batch)
    need_rows(rows)
    table = pa.Table.from_batches(batches).rename_columns(list(names))
    (whole,) = table.combine_chunks().to_batches()
    texts = dict(zip(names, strings_of(whole), strict=True))
    # Without quotation marks no cell has a comma, if commas delimit cells: nothing is to be found.
    is_plain = dialect.delimiter == "," and options.decimal is options.thousands is None and b'"' not in body
    readings = row_readings(table, columns, dialect.delimiter, options, forms=expected.forms, is_plain=is_plain)
    numeric = [name for name, kind in columns if kind == "number"]
    numbers = numbers_of_texts([texts[name] for name in numeric], [readings[name].numbers for name in numeric])
    read = dict(zip(numeric, numbers, strict=True))
    read |= {
        name: column_of_texts(kind, texts[name], readings[name].dates, readings[name].numbers.markers)
        for name, kind in columns
        if kind != "number"
    }
    block: dict[str, Column] = {name: read[name].column for name, _ in columns}
    faults = sorted(faults_of({name: read[name].cell_faults for name, _ in columns}), key=lambda one: one.row or 0)
    placed = with_lines(file, dialect, faults[:MAX_FAULTS_REPORTED])
    return ReadRows(block, (*placed, *faults[MAX_FAULTS_REPORTED:]))
