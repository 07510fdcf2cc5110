"""Arrow's stream of record batches as a stream of typed blocks, read where it lies on disk."""

from collections.abc import Iterator, Mapping

import pyarrow as pa

from app.api.formats.arrow_blocks import check_types, stream_of
from app.api.formats.arrow_messages import check_messages
from app.api.formats.spool import SpoolFile
from app.api.formats.streams import TableStream, check_names, rows_of_a_block
from app.domain.errors import MalformedBodyError
from app.domain.tables import ColumnKind


def open_arrow(file: SpoolFile, *, declared: Mapping[str, ColumnKind], most_columns: int) -> TableStream:
    """An Arrow stream as a stream of blocks, by the rules of `open_parquet`; compressed buffers are refused.

    Raises MalformedBodyError, InvalidDataError, InvalidRequestError (a kind declared for an unknown column),
    TooLargeError.
    """
    try:
        buffer = pa.py_buffer(file.mapped())
        check_messages(buffer)
        reader = pa.ipc.open_stream(buffer)
        names = tuple(reader.schema.names)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _malformed(error) from None
    check_names(names, most_columns=most_columns)
    check_types(reader.schema)
    return stream_of(names, _batches(reader, rows_of_a_block(len(names))), declared=declared)


def _batches(reader: pa.ipc.RecordBatchStreamReader, step: int) -> Iterator[pa.RecordBatch]:
    """Batches of at most `step` rows, and mostly of no fewer: each becomes a block, however short they came."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    try:
        for batch in reader:
            batch.validate(full=True)  # texts that are not UTF-8, codes beyond their dictionary
            waiting.append(batch)
            rows += batch.num_rows
            if rows >= step:
                yield from _joined(waiting, step)
                waiting, rows = [], 0
        if rows:
            yield from _joined(waiting, step)
    except (pa.ArrowException, OSError) as error:
        raise _malformed(error) from None


def _joined(batches: list[pa.RecordBatch], step: int) -> Iterator[pa.RecordBatch]:
    whole = batches[0] if len(batches) == 1 else pa.Table.from_batches(batches).combine_chunks()
    for first in range(0, whole.num_rows, step):
        part = whole.slice(first, step)
        yield from (part,) if isinstance(part, pa.RecordBatch) else part.to_batches()


def _malformed(error: Exception) -> MalformedBodyError:
    reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return MalformedBodyError(f"The file can't be read as an Arrow stream; is it cut off? {reason[:200]}.")
