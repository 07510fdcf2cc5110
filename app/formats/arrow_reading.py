"""Tables and rows of Arrow: columns, messages, blocks and streams."""

import json
import re
import struct
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cells import (
    CellFault,
    CellFaults,
    Columns,
    Expected,
    ReadRows,
    column_of,
    faults_of,
    long_integer,
    need_rows,
    not_finite,
    refuse,
    shown,
)
from app.formats.format import TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import EmptyColumns, ReadAgainError, TableStream, checked_names, kinds_of, refuse_or_revise
from relevance_bayes.records.datasets import ColumnReading
from relevance_bayes.records.errors import Fault, InvalidDataError
from relevance_bayes.records.values import Cell, ColumnKind
from relevance_bayes.tables.columns import Block, Column, NumberArray, TimestampArray, rows_of_a_block
from relevance_bayes.tables.kinds import (
    END_SECOND,
    FIRST_SECOND,
    MAX_EXACT_INTEGER,
    ROWS_LOOKED_AT,
    is_nanoseconds,
    iso_8601,
    kind_of_cells,
)

TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def _values(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column's values: of a dictionary, the type of its entries."""
    return kind.value_type if isinstance(kind, pa.DictionaryType) else kind


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _is_time(kind: pa.DataType) -> bool:
    return pa.types.is_timestamp(kind) or pa.types.is_date(kind)


def readable(kind: pa.DataType) -> bool:
    """Return whether columns of this type are supported."""
    values = _values(kind)
    plain = pa.types.is_boolean(values) or pa.types.is_null(values)
    return plain or _is_number(values) or _is_text(values) or _is_time(values)


def kind_of(table: pa.Table, position: int) -> ColumnKind:
    """Return the kind of a table's column, by its type and, where that is ambiguous, by its values."""
    column = table.column(position)
    kind = _values(column.type)
    if _is_time(kind):
        return "timestamp"
    if pa.types.is_floating(kind):
        return "number"
    if pa.types.is_decimal(kind):
        return "category" if _long_decimals(column.combine_chunks()) else "number"
    return kind_of_cells(cells_of(column.combine_chunks()))


def _long_decimals(values: pa.Array) -> list[int]:  # type: ignore[type-arg]
    """Return the rows of decimals beyond 2**53 in magnitude, whose digits float64 would round."""
    numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.flatnonzero(np.abs(numbers) >= MAX_EXACT_INTEGER).tolist()


def cells_of(values: pa.Array) -> list[Cell]:  # type: ignore[type-arg]  # the stubs' class takes a parameter, Arrow's own does not
    """Return the values as JSON values."""
    if isinstance(values, pa.DictionaryArray):  # decode the dictionary once: a long value may occur in all rows
        reported = cells_of(values.dictionary)
        return [None if place is None else reported[place] for place in values.indices.to_pylist()]
    kind = values.type
    if _is_time(kind):
        seconds, _ = _seconds(values)
        return [None if np.isnan(second) else iso_8601(float(second)) for second in seconds]
    if pa.types.is_decimal(kind):
        return [None if cell is None else f"{cell:f}" for cell in values.to_pylist()]
    return [cell if cell is None or isinstance(cell, str | int | float) else str(cell) for cell in values.to_pylist()]


def is_empty(column: "pa.ChunkedArray[pa.Scalar[pa.DataType]]") -> bool:
    """Return whether the kind of a column depends on its values, and it has none."""
    kind = _values(column.type)
    return (_is_text(kind) or pa.types.is_boolean(kind)) and column.null_count == len(column)


def typed_column(kind: ColumnKind, values: pa.Array, *, exact: bool) -> tuple[Column, CellFaults]:  # type: ignore[type-arg]
    """Return a typed column from Arrow's, missing where values do not fit, and the faults.

    `exact` refuses integers that float64 would round. Raises pa.ArrowException for a type that can't be converted.
    """
    own = values.type
    if kind == "number" and (_is_number(own)):
        return _numbers(values, exact=exact)
    if kind == "timestamp" and _is_time(own):
        seconds, cell_faults = _seconds(values)
        return TimestampArray(seconds), cell_faults
    return column_of(kind, cells_of(values), exact=exact)


def _numbers(values: pa.Array, *, exact: bool) -> tuple[NumberArray, CellFaults]:  # type: ignore[type-arg]
    # Conversions without Arrow's compute functions come first: these take 20 MB once any of them is called.
    plain = values if values.type == pa.float64() else values.cast(pa.float64(), safe=False)
    numbers = plain.to_numpy(zero_copy_only=False)
    missing = values.is_null().to_numpy(zero_copy_only=False) if values.null_count else np.zeros(len(values), np.bool_)
    finite = np.isfinite(numbers)
    strange = np.flatnonzero(~finite & ~missing)
    cell_faults = [CellFault(int(row), not_finite(str(numbers[row]))) for row in strange]
    if cell_faults:
        numbers = np.where(finite, numbers, np.nan)
    if exact and pa.types.is_integer(values.type):
        large = np.flatnonzero(np.abs(numbers) >= MAX_EXACT_INTEGER)
        whole = [(int(row), values[int(row)].as_py()) for row in large]
        is_long = [(row, n) for row, n in whole if abs(n) > MAX_EXACT_INTEGER and not is_nanoseconds(n)]
        cell_faults += [long_integer(row, n) for row, n in is_long]
    if exact and pa.types.is_decimal(values.type):
        long = [row for row in _long_decimals(values) if abs(values[row].as_py()) > MAX_EXACT_INTEGER]
        cell_faults += [long_integer(row, f"{values[row].as_py():f}") for row in long]
    return NumberArray(numbers), cell_faults


def _seconds(values: pa.Array) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], CellFaults]:  # type: ignore[type-arg]
    """Return seconds since 1970 UTC, and faults for those outside the years 1 to 9999."""
    if pa.types.is_date(values.type):
        values = values.cast(pa.timestamp("s"))
    ticks = TICKS[values.type.unit]
    whole = values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    # Divided in two steps, because float64 can't represent all nanoseconds since 1970.
    seconds = np.floor_divide(whole, ticks) + np.remainder(whole, ticks) / ticks
    missing = values.is_null().to_numpy(zero_copy_only=False)
    outside = (seconds < FIRST_SECOND) | (seconds >= END_SECOND)
    seconds[missing | outside] = np.nan
    rows = np.flatnonzero(outside & ~missing)
    return seconds, [
        CellFault(int(row), f"{shown(int(whole[row]))} {values.type.unit} since 1970 is not in the years 1 to 9999.")
        for row in rows
    ]


_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3


def read_messages(stream: pa.Buffer, check: Callable[[pa.ipc.Message], None]) -> int:
    """Call `check` with each message, and return the number of bytes up to the stream's end.

    Raises pa.ArrowException where the stream is malformed, and what `check` raises.
    """
    source = pa.BufferReader(stream)
    messages = pa.ipc.MessageReader.open_stream(source)
    while True:
        try:
            message = messages.read_next_message()
        except StopIteration:
            return source.tell()
        check(message)


def check_messages(stream: pa.Buffer) -> None:
    """Raise InvalidDataError where a message has compressed buffers, MalformedBodyError where bytes follow the end.

    Raises pa.ArrowException where the stream is malformed.
    """
    if more := stream.size - read_messages(stream, _check_uncompressed):
        raise MalformedBodyError(f"Expected the end of the Arrow stream, got {more:,} more bytes.")


def _check_uncompressed(message: pa.ipc.Message) -> None:
    if unpacked_size(message) is not None:
        raise InvalidDataError(
            "Expected an Arrow stream without compressed buffers; write it without compression, and "
            "compress the whole body (Content-Encoding: zstd) to reduce its size."
        )


def unpacked_size(message: pa.ipc.Message) -> int | None:
    """Return the decompressed size that a message claims for its buffers; None where they are not compressed.

    Reads the flatbuffer `Message` of Arrow's format, whose offsets Arrow has verified. Each buffer of a batch with the
    member `compression` begins with its decompressed size, -1 where it is not compressed. Raises MalformedBodyError.
    """
    content = message.metadata.to_pybytes()
    root = _uint32(content, 0)
    kind, header = _member(content, root, 1), _member(content, root, 2)
    if not kind or not header or content[kind] not in {_DICTIONARY_BATCH, _RECORD_BATCH}:
        return None
    batch = header + _uint32(content, header)
    if content[kind] == _DICTIONARY_BATCH:
        data = _member(content, batch, 1)
        if not data:
            return None
        batch = data + _uint32(content, data)
    if not _member(content, batch, 3):
        return None
    listed = _member(content, batch, 2)
    return _claimed(content, listed + _uint32(content, listed), memoryview(message.body or b"")) if listed else 0


def _claimed(content: bytes, buffers: int, body: memoryview) -> int:
    """Return the sum of the sizes at the beginnings of the buffers, which a vector of (offset, length) locates."""
    size = 0
    for place in range(buffers + 4, buffers + 4 + 16 * _uint32(content, buffers), 16):
        offset, length = struct.unpack_from("<qq", content, place)
        if not length:
            continue
        if offset < 0 or length < 8 or offset + length > len(body):
            raise MalformedBodyError("A compressed buffer exceeds its message.")
        (claimed,) = struct.unpack_from("<q", body, offset)
        size += length if claimed < 0 else claimed
    return size


def _member(buffer: bytes, table: int, number: int) -> int:
    """Return the position of a table's member, 0 where it is absent."""
    (distance,) = struct.unpack_from("<i", buffer, table)
    listed = table - distance
    (size,) = struct.unpack_from("<H", buffer, listed)
    place = 4 + 2 * number
    if place >= size:
        return 0
    (offset,) = struct.unpack_from("<H", buffer, listed + place)
    return table + offset if offset else 0


def _uint32(buffer: bytes, place: int) -> int:
    (value,) = struct.unpack_from("<I", buffer, place)
    return int(value)


_UNNAMED = re.compile(r"__index_level_[0-9]+__")
"""The name that pandas gives an index without one."""


@contextmanager
def reading(noun: str, what: str) -> Iterator[None]:
    """Raise MalformedBodyError for exceptions of Arrow while it reads a body or file in that format."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise MalformedBodyError(f"The {noun} can't be read as {what}; is it truncated? {first_line(error)}.") from None


def first_line(error: Exception) -> str:
    """Return the first line of the message of one of Arrow's errors."""
    lines = str(error).splitlines()
    return lines[0].rstrip(".")[:200] if lines else type(error).__name__


def check_types(schema: pa.Schema) -> None:
    """Raise InvalidDataError for columns of unsupported types."""
    refuse(
        [
            Fault(f"The type {field.type} is not supported.", column=field.name)
            for field in schema
            if not readable(field.type)
        ]
    )


def stream_of(
    schema: pa.Schema, batches: Iterator[pa.RecordBatch], *, declared: Mapping[str, ColumnKind], limits: TableLimits
) -> TableStream:
    """Return a table of a schema as a stream of blocks; kinds not declared are inferred from the first rows.

    Indexes of pandas without a name are left out. Raises InvalidDataError where there are no rows,
    InvalidRequestError for a kind of an unknown column, and what `batches` raises; its blocks raise TooLargeError where
    the cells take too many bytes.
    """
    kept = without_unnamed(schema)
    names, given_names = checked_names([schema.names[place] for place in kept], max_columns=limits.max_columns)
    check_types(pa.schema([schema.field(place) for place in kept]))
    if len(kept) < len(schema.names):
        batches = (batch.select([*kept]) for batch in batches)
    batches = _within(batches, limits.max_decoded_bytes)
    indexes = {name for name in index_names(schema) if schema.names.count(name) == 1}
    readings = {
        name: ColumnReading(given_name=given_names.get(name), is_index=True if name in indexes else None)
        for name in names
        if name in given_names or name in indexes
    }
    head = _head(batches)
    if not head:
        raise InvalidDataError("The table has no rows.")
    table = pa.Table.from_batches(head).slice(0, ROWS_LOOKED_AT)
    kinds = kinds_of(names, declared, (kind_of(table, position) for position in range(len(names))))
    inferred = frozenset(names) - declared.keys()
    empty = EmptyColumns(name for name in inferred if is_empty(table.column(names.index(name))))
    blocks = _blocks(chain(head, batches), names, kinds, inferred, empty)
    return TableStream(names, kinds, blocks, readings=lambda: readings)


def check_decoded(size: int, max_bytes: int) -> None:
    """Raise TooLargeError where the cells of a table take too many bytes."""
    if size > max_bytes:
        raise TooLargeError(f"Expected a table of at most {max_bytes:,} bytes once decoded, got more.")


def _within(batches: Iterator[pa.RecordBatch], max_bytes: int) -> Iterator[pa.RecordBatch]:
    """Yield the batches; raises TooLargeError once their cells take too many bytes."""
    size = 0
    for batch in batches:
        size += sum(map(decoded_bytes, batch.columns))
        check_decoded(size, max_bytes)
        yield batch


def decoded_bytes(values: pa.Array) -> int:  # type: ignore[type-arg]  # the stubs' class takes a parameter, Arrow's own does not
    """Return the bytes that the cells of a column take: a text of a dictionary takes them wherever it occurs."""
    texts = values.dictionary if isinstance(values, pa.DictionaryArray) else None
    if not isinstance(values, pa.DictionaryArray) or not isinstance(texts, pa.StringArray | pa.LargeStringArray):
        return values.nbytes
    lengths = pc.binary_length(texts).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    places = values.indices.drop_null().to_numpy(zero_copy_only=False)
    return int(lengths[places].sum()) + values.indices.nbytes


def _head(batches: Iterator[pa.RecordBatch]) -> list[pa.RecordBatch]:
    head: list[pa.RecordBatch] = []
    for batch in batches:
        head.append(batch)
        if sum(one.num_rows for one in head) >= ROWS_LOOKED_AT:
            break
    return head


def _blocks(
    batches: Iterator[pa.RecordBatch],
    names: Sequence[str],
    kinds: Sequence[ColumnKind],
    inferred: frozenset[str],
    empty: EmptyColumns,
) -> Iterator[Block]:
    first_row = 0
    for batch in batches:
        if again := empty.kinds_in(_by_name(names, batch)):
            for later in batches:
                again |= empty.kinds_in(_by_name(names, later))
            raise ReadAgainError(again)
        block: dict[str, Column] = {}
        wrong: dict[str, CellFaults] = {}
        for name, kind, values in zip(names, kinds, batch.columns, strict=True):
            block[name], wrong[name] = typed_column(kind, values, exact=name in inferred)
        refuse_or_revise(wrong, inferred, first_row)
        first_row += batch.num_rows
        yield block


def _by_name(names: Sequence[str], batch: pa.RecordBatch) -> Iterator[tuple[str, Callable[[], Sequence[Cell]]]]:
    return ((name, partial(cells_of, values)) for name, values in zip(names, batch.columns, strict=True))


def index_names(schema: pa.Schema) -> frozenset[str]:
    """Return the names of the columns that are indexes of pandas."""
    try:
        about = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):
        return frozenset()
    listed = about.get("index_columns") if isinstance(about, dict) else None
    named = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    unnamed = {name for name in schema.names if _UNNAMED.fullmatch(name)}
    return frozenset((named | unnamed) & {*schema.names})


def unnamed_among(indexes: Collection[str]) -> frozenset[str]:
    """Return the names of indexes that have none of their own."""
    return frozenset(name for name in indexes if _UNNAMED.fullmatch(name))


def without_unnamed(schema: pa.Schema) -> Sequence[int]:
    """Return the positions of a schema's columns but for indexes without a name; all, where there are no others."""
    dropped = unnamed_among(index_names(schema))
    kept = [place for place, name in enumerate(schema.names) if name not in dropped]
    return kept or range(len(schema.names))


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
