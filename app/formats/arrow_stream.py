"""Arrow's stream format as a stream of typed blocks, memory-mapped from disk."""

from collections.abc import Iterator, Mapping

import pyarrow as pa

from app.formats.arrow_blocks import reading, stream_of
from app.formats.arrow_messages import check_messages
from app.formats.options import TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.tables.columns import rows_of_a_block
from relevance_bayes.types.values import ColumnKind


def open_arrow(file: SpoolFile, *, declared: Mapping[str, ColumnKind], limits: TableLimits) -> TableStream:
    """Return an Arrow stream as a stream of blocks, with the types of `open_parquet`; compressed buffers are refused.

    Raises MalformedBodyError, InvalidDataError, InvalidRequestError (a kind declared for an unknown column),
    TooLargeError.
    """
    what = "an Arrow stream"
    with reading("file", what):
        buffer = pa.py_buffer(file.mapped())
        check_messages(buffer)
        reader = pa.ipc.open_stream(buffer)
    return stream_of_batches(reader.schema, reader, what, declared=declared, limits=limits)


def stream_of_batches(
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    what: str,
    *,
    declared: Mapping[str, ColumnKind],
    limits: TableLimits,
) -> TableStream:
    """Return batches whose messages were checked as a stream of blocks; `what` is the format's name in errors."""
    with reading("file", what):
        width = len(schema.names)  # raises where a name is not UTF-8
    joined = joined_batches(batches, rows_of_a_block(width), what)
    return stream_of(schema, joined, declared=declared, limits=limits)


def joined_batches(reader: Iterator[pa.RecordBatch], step: int, what: str) -> Iterator[pa.RecordBatch]:
    """Yield batches of at most `step` rows; short ones are joined, since each becomes a block."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    with reading("file", what):
        for batch in reader:
            batch.validate(full=True)  # invalid UTF-8, dictionary indices out of bounds
            waiting.append(batch)
            rows += batch.num_rows
            if rows >= step:
                yield from _joined(waiting, step)
                waiting, rows = [], 0
        if rows:
            yield from _joined(waiting, step)


def _joined(batches: list[pa.RecordBatch], step: int) -> Iterator[pa.RecordBatch]:
    whole = batches[0] if len(batches) == 1 else pa.Table.from_batches(batches).combine_chunks()
    for first in range(0, whole.num_rows, step):
        part = whole.slice(first, step)
        yield from (part,) if isinstance(part, pa.RecordBatch) else part.to_batches()
