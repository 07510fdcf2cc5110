"""Parquet files: read as a stream of blocks or as rows to predict for, and written."""

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from app.errors import TooLargeError
from app.formats.arrow_blocks import check_types, reading, stream_of
from app.formats.arrow_rows import rows_of
from app.formats.expected import Expected, ReadRows
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream, check_names
from relevance_bayes.tables.columns import rows_of_a_block
from relevance_bayes.types.values import ColumnKind

BUFFER = 2**20


def open_parquet(
    file: SpoolFile, *, declared: Mapping[str, ColumnKind], max_columns: int, max_rows: int
) -> TableStream:
    """Return a Parquet file as a stream of blocks.

    Numbers (including decimals), booleans, texts, dates and timestamps are supported; NaN and infinity are refused,
    null is a missing value. Raises MalformedBodyError, InvalidDataError, InvalidRequestError (a kind declared for an
    unknown column), TooLargeError.
    """
    with reading("file", "Parquet"):
        parquet = pq.ParquetFile(file.reader(), buffer_size=BUFFER, pre_buffer=False)
        schema, rows = parquet.schema_arrow, parquet.metadata.num_rows
    names = tuple(schema.names)
    check_names(names, max_columns=max_columns)
    if rows > max_rows:
        raise TooLargeError(f"Expected at most {max_rows:,} rows, got {rows:,}.")
    check_types(schema)
    return stream_of(names, _batches(parquet, rows_of_a_block(len(names))), declared=declared)


def _batches(parquet: pq.ParquetFile, step: int) -> Iterator[pa.RecordBatch]:
    with reading("file", "Parquet"):
        for batch in parquet.iter_batches(batch_size=step, use_threads=False):
            batch.validate(full=True)  # invalid UTF-8, dictionary indices out of bounds
            if batch.num_rows:
                yield batch


BATCH = 65_536


def read_parquet(body: bytes, expected: Expected) -> ReadRows:
    """Read the rows of a Parquet file; raises as `read_arrow` does."""
    with reading("body", "Parquet"):
        parquet = pq.ParquetFile(pa.BufferReader(body))
        schema, about = parquet.schema_arrow, parquet.metadata
        columns = expected.among(schema.names)
        expected.check_rows(about.num_rows)
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
        expected.check_bytes(sum(group.total_byte_size for group in groups))
        # As dictionaries, because a long text may occur in all rows.
        texts = [name for name, kind in columns if kind == "category" and pa.types.is_string(schema.field(name).type)]
        parquet = pq.ParquetFile(pa.BufferReader(body), read_dictionary=texts)
        batches = parquet.iter_batches(batch_size=BATCH, use_threads=False, columns=[name for name, _ in columns])
        return rows_of(parquet.schema_arrow, batches, columns, expected)


def parquet_file(table: pa.Table) -> bytes:
    """Return a table as one file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


class RowGroups:
    """A writer of each record batch as a row group."""

    def __init__(self, sink: pa.NativeFile, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(sink, schema)

    def write_batch(self, batch: pa.RecordBatch, /) -> None:
        """Write the next rows."""
        self._writer.write_batch(batch, row_group_size=max(1, batch.num_rows))

    def close(self) -> None:
        """Write the footer."""
        self._writer.close()
