"""Rows to predict for in a stream of Arrow's record batches."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from app.api.formats.arrow_blocks import check_types
from app.api.formats.arrow_columns import typed_column
from app.api.formats.arrow_messages import check_messages
from app.api.formats.expected import Columns, Expected, ReadRows, need_rows
from app.domain.errors import Fault, InvalidDataError, MalformedBodyError
from app.domain.tables import Column, ColumnKind


def read_arrow(body: bytes, expected: Expected) -> ReadRows:
    """The rows of an Arrow stream, without copying what is numbers already.

    Raises MalformedBodyError, InvalidDataError for columns that are not those expected, and TooLargeError.
    """
    with readable("an Arrow stream"):
        buffer = pa.py_buffer(body)
        check_messages(buffer)
        reader = pa.ipc.open_stream(buffer)
        columns = expected.among(reader.schema.names)
        return rows_of(reader.schema, reader, columns, expected)


def rows_of(schema: pa.Schema, batches: Iterator[pa.RecordBatch], columns: Columns, expected: Expected) -> ReadRows:
    """Those columns of batches that have no more rows than may be; raises as `read_arrow` does."""
    names = [name for name, _ in columns]
    check_types(pa.schema([schema.field(name) for name in names]))
    found: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        expected.check_rows(rows)
        chosen = batch.select(names)
        chosen.validate(full=True)  # texts that are not UTF-8, codes beyond their dictionary
        found.append(chosen)
    need_rows(rows)
    table = pa.Table.from_batches(found)
    block: dict[str, Column] = {}
    misfits: list[Fault] = []
    for name, kind in columns:
        block[name], wrong = _column(table.column(name), name, kind)
        misfits.extend(wrong)
    return ReadRows(block, tuple(misfits))


def _column(
    chunks: "pa.ChunkedArray[pa.Scalar[pa.DataType]]", name: str, kind: ColumnKind
) -> tuple[Column, list[Fault]]:
    try:
        column, misfits = typed_column(kind, chunks.combine_chunks(), exact=False)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        detail = f"Values of the type {chunks.type} can't be read: {_first_line(error)}."
        raise InvalidDataError(detail, [Fault(detail, column=name)]) from None
    return column, [Fault(detail, row=row, column=name) for row, detail in misfits]


@contextmanager
def readable(what: str) -> Iterator[None]:
    """Raise MalformedBodyError for what Arrow raises of a body in that format."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise MalformedBodyError(f"The body can't be read as {what}; is it cut off? {_first_line(error)}.") from None


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0].rstrip(".")[:200] if lines else type(error).__name__
