"""Files of record batches and Parquet files: read as a stream of blocks or as rows to predict for, and written."""

import mmap
import struct
from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from app.errors import MalformedBodyError, TooLargeError
from app.formats.arrow_reading import (
    check_decoded,
    joined_batches,
    named_for,
    open_arrow,
    read_arrow,
    read_messages,
    reading,
    rows_of,
    rows_of_stream,
    stream_of,
    stream_of_batches,
    unpacked_size,
)
from app.formats.cells import Expected, ReadRows
from app.formats.format import TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import rows_of_a_block

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


BUFFER = 2**20


def open_parquet(file: SpoolFile, *, declared: Mapping[str, ColumnKind], limits: TableLimits) -> TableStream:
    """Return a Parquet file as a stream of blocks.

    Numbers (including decimals), booleans, texts, dates and timestamps are supported; NaN and infinity are refused,
    null is a missing value. The bytes that the cells take are counted as row groups are decoded, and the size that the
    file claims for its pages is checked first. Raises MalformedBodyError, InvalidDataError, InvalidRequestError (a kind
    declared for an unknown column), TooLargeError.
    """
    with reading("file", "Parquet"):
        parquet = pq.ParquetFile(file.reader(), buffer_size=BUFFER, pre_buffer=False)
        schema, about = parquet.schema_arrow, parquet.metadata
        if about.num_rows > limits.max_rows:
            raise TooLargeError(f"Expected at most {limits.max_rows:,} rows, got {about.num_rows:,}.")
        check_decoded(_page_bytes(about), limits.max_decoded_bytes)
        width = len(schema.names)  # raises where a name is not UTF-8
        texts = _texts(schema, about, schema.names)
        parquet = pq.ParquetFile(file.reader(), buffer_size=BUFFER, pre_buffer=False, read_dictionary=texts)
        schema = parquet.schema_arrow
    rows = rows_of_a_block(width)
    batches = parquet.iter_batches(batch_size=min(rows, _batch_rows(about)), use_threads=False)
    joined = joined_batches(_in_dictionaries(batches), rows, "Parquet")
    return stream_of(schema, joined, declared=declared, limits=limits)


def _page_bytes(about: pq.FileMetaData) -> int:
    """Return the decompressed size that a file claims for its pages."""
    return sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))


def _encodings(about: pq.FileMetaData, name: str | None = None) -> frozenset[str]:
    """Return the encodings of the pages of a column, or of all columns."""
    columns = (
        about.row_group(group).column(column)
        for group in range(about.num_row_groups)
        for column in range(about.num_columns)
    )
    return frozenset[str]().union(*(one.encodings for one in columns if name in {None, one.path_in_schema}))


def _texts(schema: pa.Schema, about: pq.FileMetaData, names: Iterable[str]) -> list[str]:
    """Return the columns of texts to read as dictionaries, because a long text may occur in all rows."""
    texts = [name for name in names if schema.names.count(name) == 1 and pa.types.is_string(schema.field(name).type)]
    return [name for name in texts if _encodings(about, name) <= READ_AS_DICTIONARIES]


def _batch_rows(about: pq.FileMetaData) -> int:
    """Return the number of rows to decode at once: few where a page has a text as a part of the one before it."""
    return BATCH_OF_PARTS if PARTS_OF_TEXTS in _encodings(about) else BATCH


def _in_dictionaries(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches whose texts are dictionaries, also where Arrow reads them as plain texts."""
    for batch in batches:
        columns = [one.dictionary_encode() if pa.types.is_string(one.type) else one for one in batch.columns]
        yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


READ_AS_DICTIONARIES = frozenset({"PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE", "BIT_PACKED"})
"""The encodings of texts that Arrow reads as dictionaries."""

PARTS_OF_TEXTS = "DELTA_BYTE_ARRAY"
"""The encoding of a text as the end of it and the length of the beginning that it shares with the one before."""

BATCH_OF_PARTS = 256
BATCH = 65_536


def read_parquet(body: bytes, expected: Expected) -> ReadRows:
    """Read the rows of a Parquet file; raises as `read_arrow` does."""
    with reading("body", "Parquet"):
        parquet = pq.ParquetFile(pa.BufferReader(body))
        schema, about = parquet.schema_arrow, parquet.metadata
        columns = expected.among(named_for(schema, expected))
        expected.check_rows(about.num_rows)
        expected.check_bytes(_page_bytes(about))
        texts = _texts(schema, about, [name for name, kind in columns if kind == "category"])
        parquet = pq.ParquetFile(pa.BufferReader(body), read_dictionary=texts)
        batches = parquet.iter_batches(
            batch_size=_batch_rows(about), use_threads=False, columns=[name for name, _ in columns]
        )
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
