"""Parquet as a stream of typed blocks: kinds follow from the file's types, nested and binary ones are refused."""

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from app.errors import TooLargeError
from app.formats.arrow_blocks import check_types, reading, stream_of
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream, check_names, rows_of_a_block
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
