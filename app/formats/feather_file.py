"""Arrow's file format, read as the stream that it contains; the footer is not used."""

from collections.abc import Mapping

import pyarrow as pa

from app.errors import MalformedBodyError, TooLargeError
from app.formats.arrow_blocks import reading
from app.formats.arrow_messages import read_messages, unpacked_size
from app.formats.arrow_rows import read_arrow, rows_of_stream
from app.formats.arrow_stream import open_arrow, open_batches
from app.formats.expected import Expected, ReadRows
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.types.values import ColumnKind

MARK, FORMER_MARK = b"ARROW1", b"FEA1"
MARK_OF_STREAM = b"\xff\xff\xff\xff"
"""The beginning of a stream without a file around it. Both have the suffix `.arrow`, so clients may send either type.
"""

BEGINNING = 8
"""The size of the file's magic bytes with padding."""

MAX_BYTES_OF_A_BATCH = 2**28
"""The maximum decompressed size of a batch, which is decompressed in memory."""


def open_feather(file: SpoolFile, *, declared: Mapping[str, ColumnKind], max_columns: int) -> TableStream:
    """Return a file as a stream of blocks; raises as `open_arrow` does, and TooLargeError for a batch that is too
    large."""
    if file.reader().read(len(MARK_OF_STREAM)) == MARK_OF_STREAM:
        return open_arrow(file, declared=declared, max_columns=max_columns)
    what = "Feather"
    with reading("file", what):
        stream = _stream_in(pa.py_buffer(file.mapped()))
        _unpacked(stream)
    return open_batches(stream, what, declared=declared, max_columns=max_columns)


def read_feather(body: bytes, expected: Expected) -> ReadRows:
    """Read the rows of a file; raises as `read_arrow` does."""
    if body.startswith(MARK_OF_STREAM):
        return read_arrow(body, expected)
    with reading("body", "Feather"):
        stream = _stream_in(pa.py_buffer(body))
        expected.check_bytes(_unpacked(stream))
        return rows_of_stream(stream, expected)


def feather_file(table: pa.Table) -> bytes:
    """Return all rows of a table as one file."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue().to_pybytes()


def _stream_in(file: pa.Buffer) -> pa.Buffer:
    content = memoryview(file)
    if content[: len(FORMER_MARK)] == FORMER_MARK:
        raise MalformedBodyError("Expected Feather of version 2, got version 1; write it with a current library.")
    if len(content) <= BEGINNING or content[: len(MARK)] != MARK or content[-len(MARK) :] != MARK:
        raise MalformedBodyError("The file can't be read as Feather; is it truncated?")
    return file.slice(BEGINNING)


def _unpacked(stream: pa.Buffer) -> int:
    """Return the decompressed size of the stream's compressed buffers."""
    sizes = [0]

    def check(message: pa.ipc.Message) -> None:
        sizes.append(unpacked_size(message) or 0)
        if sizes[-1] > MAX_BYTES_OF_A_BATCH:
            raise TooLargeError(
                f"Expected record batches of at most {MAX_BYTES_OF_A_BATCH:,} bytes once decompressed, got more."
            )

    read_messages(stream, check)
    return sum(sizes)
