"""Rows to predict for in Arrow: a stream of record batches, or a Parquet file."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from app.api.formats.arrow_blocks import check_types
from app.api.formats.arrow_columns import typed_column
from app.api.formats.arrow_messages import refuse_compressed
from app.api.formats.expected import Columns, Expected, ReadRows, need_rows
from app.domain.errors import Fault, InvalidDataError, MalformedBodyError
from app.domain.tables import Column, ColumnKind

BATCH = 65_536


def read_arrow(body: bytes, expected: Expected) -> ReadRows:
    """The rows of an Arrow stream, without copying what is numbers already.

    Raises MalformedBodyError, InvalidDataError for columns that are not those expected, and TooLargeError.
    """
    with _readable("an Arrow stream"):
        buffer = pa.py_buffer(body)
        refuse_compressed(buffer)
        reader = pa.ipc.open_stream(buffer)
        columns = expected.among(reader.schema.names)
        return _read(reader.schema, reader, columns, expected)


def read_parquet(body: bytes, expected: Expected) -> ReadRows:
    """The rows of a Parquet file; raises as `read_arrow` does."""
    with _readable("Parquet"):
        parquet = pq.ParquetFile(pa.BufferReader(body))
        schema, about = parquet.schema_arrow, parquet.metadata
        columns = expected.among(schema.names)
        expected.check_rows(about.num_rows)
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
        expected.check_bytes(sum(group.total_byte_size for group in groups))
        # As codes, because one long text may stand in all rows.
        texts = [name for name, kind in columns if kind == "category" and pa.types.is_string(schema.field(name).type)]
        parquet = pq.ParquetFile(pa.BufferReader(body), read_dictionary=texts)
        batches = parquet.iter_batches(batch_size=BATCH, use_threads=False, columns=[name for name, _ in columns])
        return _read(parquet.schema_arrow, batches, columns, expected)


def _read(schema: pa.Schema, batches: Iterator[pa.RecordBatch], columns: Columns, expected: Expected) -> ReadRows:
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
def _readable(what: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise MalformedBodyError(f"The body can't be read as {what}; is it cut off? {_first_line(error)}.") from None


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0].rstrip(".")[:200] if lines else type(error).__name__
