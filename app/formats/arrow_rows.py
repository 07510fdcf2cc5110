"""Rows to predict for in Arrow's stream format."""

from collections.abc import Iterator

import pyarrow as pa

from app.formats.arrow_blocks import check_types, first_line, index_names, reading
from app.formats.arrow_columns import typed_column
from app.formats.arrow_messages import check_messages
from app.formats.cell_faults import faults_of
from app.formats.expected import Columns, Expected, ReadRows, need_rows
from relevance_bayes.tables.columns import Column
from relevance_bayes.types.errors import Fault, InvalidDataError
from relevance_bayes.types.values import ColumnKind


def read_arrow(body: bytes, expected: Expected) -> ReadRows:
    """Read the rows of an Arrow stream; float64 columns are not copied.

    Raises MalformedBodyError, InvalidDataError for columns other than those expected, and TooLargeError.
    """
    with reading("body", "an Arrow stream"):
        buffer = pa.py_buffer(body)
        check_messages(buffer)
        return rows_of_stream(buffer, expected)


def rows_of_stream(stream: pa.Buffer, expected: Expected) -> ReadRows:
    """Read the rows of a stream whose messages were checked; raises as `read_arrow` does, and pa.ArrowException."""
    reader = pa.ipc.open_stream(stream)
    columns = expected.among(named_for(reader.schema, expected))
    return rows_of(reader.schema, reader, columns, expected)


def named_for(schema: pa.Schema, expected: Expected) -> list[str]:
    """Return the names of a schema without those of indexes of pandas that are not expected."""
    known = {name for name, _ in expected.with_noise} | expected.not_read
    indexes = index_names(schema) - known
    return [name for name in schema.names if name not in indexes]


def rows_of(schema: pa.Schema, batches: Iterator[pa.RecordBatch], columns: Columns, expected: Expected) -> ReadRows:
    """Read these columns of batches, up to the maximum number of rows; raises as `read_arrow` does."""
    names = [name for name, _ in columns]
    check_types(pa.schema([schema.field(name) for name in names]))
    found: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        expected.check_rows(rows)
        chosen = batch.select(names)
        chosen.validate(full=True)  # invalid UTF-8, dictionary indices out of bounds
        found.append(chosen)
    need_rows(rows)
    table = pa.Table.from_batches(found)
    block: dict[str, Column] = {}
    cell_faults: list[Fault] = []
    for name, kind in columns:
        block[name], wrong = _column(table.column(name), name, kind)
        cell_faults.extend(wrong)
    return ReadRows(block, tuple(cell_faults))


def _column(
    chunks: "pa.ChunkedArray[pa.Scalar[pa.DataType]]", name: str, kind: ColumnKind
) -> tuple[Column, list[Fault]]:
    try:
        column, cell_faults = typed_column(kind, chunks.combine_chunks(), exact=False)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        detail = f"Values of the type {chunks.type} can't be converted: {first_line(error)}."
        raise InvalidDataError(detail, [Fault(detail, column=name)]) from None
    return column, faults_of({name: cell_faults})
