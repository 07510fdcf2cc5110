"""Arrow's file format, read as the stream that it contains.

The footer is not used: a damaged one ends the process in Arrow's own code.
"""

import mmap
import struct
from collections.abc import Mapping

import pyarrow as pa

from app.errors import MalformedBodyError, TooLargeError
from app.formats.arrow_reading import (
    check_decoded,
    open_arrow,
    read_arrow,
    read_messages,
    reading,
    rows_of_stream,
    stream_of_batches,
    unpacked_size,
)
from app.formats.expected import Expected, ReadRows
from app.formats.options import TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.records.values import ColumnKind

MARK, FORMER_MARK = b"ARROW1", b"FEA1"
MARK_OF_STREAM = b"\xff\xff\xff\xff"
"""The beginning of a stream without a file around it. Both have the suffix `.arrow`, so clients may send either type.
"""

BEGINNING = 8
"""The size of the file's magic bytes with padding."""

MIN_SCHEMA_BYTES, MAX_SCHEMA_BYTES = 64, 2**26
"""The size of a schema. Below it, the first number of the stream is no size: polars writes no size from 1.44 on."""

MAX_BYTES_OF_A_BATCH = 2**28
"""The maximum decompressed size of a batch, which is decompressed in memory."""


def open_feather(file: SpoolFile, *, declared: Mapping[str, ColumnKind], limits: TableLimits) -> TableStream:
    """Return a file as a stream of blocks; raises as `open_arrow` does, and TooLargeError for a batch that is too
    large."""
    if file.reader().read(len(MARK_OF_STREAM)) == MARK_OF_STREAM:
        return open_arrow(file, declared=declared, limits=limits)
    what = "Feather"
    with reading("file", what):
        content = file.mapped()
        _check_marks(content)
        at = _schema_without_size(content)
        stream = _stream_in(content) if at is None else _with_size(file.mapped(mmap.ACCESS_COPY), at)
        check_decoded(_unpacked(stream, is_complete=at is None), limits.max_decoded_bytes)
        reader = pa.ipc.open_stream(stream)
    return stream_of_batches(reader.schema, reader, what, declared=declared, limits=limits)


def read_feather(body: bytes, expected: Expected) -> ReadRows:
    """Read the rows of a file; raises as `read_arrow` does."""
    if body.startswith(MARK_OF_STREAM):
        return read_arrow(body, expected)
    with reading("body", "Feather"):
        _check_marks(body)
        at = _schema_without_size(body)
        stream = _stream_in(body) if at is None else _with_size(bytearray(body), at)
        expected.check_bytes(_unpacked(stream, is_complete=at is None))
        return rows_of_stream(stream, expected)


def feather_file(table: pa.Table) -> bytes:
    """Return all rows of a table as one file."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue().to_pybytes()


def _check_marks(content: bytes | mmap.mmap) -> None:
    if content[: len(FORMER_MARK)] == FORMER_MARK:
        raise MalformedBodyError("Expected Feather of version 2, got version 1; write it with a current library.")
    if len(content) <= BEGINNING or content[: len(MARK)] != MARK or content[-len(MARK) :] != MARK:
        raise MalformedBodyError("The file can't be read as Feather; is it truncated?")


def _stream_in(content: bytes | mmap.mmap) -> pa.Buffer:
    return pa.py_buffer(content).slice(BEGINNING)


def _schema_without_size(content: bytes | mmap.mmap) -> int | None:
    """Return the end of a schema that is written without its size, as polars does; None for other files."""
    (size,) = struct.unpack_from("<I", content, BEGINNING)
    if size >= MIN_SCHEMA_BYTES:
        return None
    end = content.find(MARK_OF_STREAM, BEGINNING, MAX_SCHEMA_BYTES)
    if end < 0:
        raise MalformedBodyError("The file can't be read as Feather: its schema has no end.")
    return end


def _with_size(content: bytes | bytearray | mmap.mmap, end: int) -> pa.Buffer:
    """Return a file as a stream, with the size of its schema in the place of the file's magic bytes."""
    assert not isinstance(content, bytes)
    content[:BEGINNING] = MARK_OF_STREAM + struct.pack("<I", end - BEGINNING)
    return pa.py_buffer(content)


def _unpacked(stream: pa.Buffer, *, is_complete: bool) -> int:
    """Return the decompressed size of the stream's compressed buffers.

    Raises MalformedBodyError for dictionaries after the rows in a file that is no complete stream.
    """
    sizes = [0]
    kinds: list[str] = []

    def check(message: pa.ipc.Message) -> None:
        kinds.append(message.type)
        if not is_complete and kinds[-1] == "dictionary" and "record batch" in kinds:
            raise MalformedBodyError(
                "The file has its categories after the rows, as polars writes Feather: write Parquet, or an Arrow "
                "stream (write_ipc_stream)."
            )
        sizes.append(unpacked_size(message) or 0)
        if sizes[-1] > MAX_BYTES_OF_A_BATCH:
            raise TooLargeError(
                f"Expected record batches of at most {MAX_BYTES_OF_A_BATCH:,} bytes once decompressed, got more."
            )

    read_messages(stream, check)
    return sum(sizes)
