"""Predictions as tables of Arrow, and their parts as files."""

from collections.abc import Callable, Iterator
from io import BufferedReader, RawIOBase
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from app.formats.streams import FlatTable
from relevance_bayes.core.types import Array, Mask
from relevance_bayes.records.values import text_of
from relevance_bayes.tables.columns import BooleanArray, CategoryArray, Column, Labels, NumberArray, TimestampArray
from relevance_bayes.tables.kinds import escaped

AnyArray: TypeAlias = "pa.Array[pa.Scalar[pa.DataType]]"

ERROR = "error"
"""The column with the errors of rows without a prediction."""


def arrow_table(flat: FlatTable) -> pa.Table:
    """Return the columns as an Arrow table, null in `faulty` rows and where values are missing."""
    arrays: dict[str, AnyArray] = {
        name: raw_array(kept.column, integral=kept.integral) for name, kept in flat.kept.items()
    }
    for name, column in flat.columns.items():
        arrays[name] = _labels(column, flat.faulty) if isinstance(column, Labels) else _numbers(column, flat.faulty)
    if flat.errors is not None:
        rows = len(next(iter(arrays.values())))
        arrays[ERROR] = pa.array([flat.errors.get(row) for row in range(rows)], pa.string())
    return pa.Table.from_arrays([*arrays.values()], names=[*arrays]).replace_schema_metadata(dict(flat.about))


def without_formulas(table: pa.Table) -> pa.Table:
    """Return the table with the texts and the column names as `escaped` writes them."""
    columns: list[AnyArray] = [
        pa.array([None if text is None else escaped(str(text)) for text in column.to_pylist()], pa.string())
        if pa.types.is_string(column.type)
        else column.combine_chunks()
        for column in table.columns
    ]
    names = [escaped(name) for name in table.column_names]
    return pa.Table.from_arrays(columns, names=names).replace_schema_metadata(table.schema.metadata)


def raw_array(column: Column, *, integral: bool) -> AnyArray:
    """Return a column as it was uploaded; numbers as integers where `integral`."""
    match column:
        case CategoryArray(codes=codes, labels=labels):
            texts = pa.array([*labels], pa.string())
            return texts.take(pa.array(codes, pa.int32(), mask=codes < 0))
        case BooleanArray(values=flags):
            return pa.array(flags > 0, pa.bool_(), mask=flags < 0)
        case TimestampArray(values=values):
            missing = np.isnan(values)
            microseconds = np.round(np.where(missing, 0.0, values) * 1e6).astype(np.int64)
            return pa.array(microseconds, pa.timestamp("us", "UTC"), mask=missing)
        case NumberArray(values=values) if integral:
            missing = np.isnan(values)
            return pa.array(np.where(missing, 0.0, values).astype(np.int64), pa.int64(), mask=missing)
        case NumberArray(values=values):
            return _numbers(values, None)


def _numbers(values: Array, faulty: Mask | None) -> AnyArray:
    """Return numbers as an array, null for NaN."""
    if faulty is not None:
        return pa.array(values, pa.float64(), mask=faulty | np.isnan(values))
    missing = np.isnan(values)
    return pa.array(values, pa.float64(), mask=missing) if missing.any() else pa.array(values, pa.float64())


def _labels(labels: Labels, faulty: Mask | None) -> AnyArray:
    places = labels.places if faulty is None else np.where(faulty, -1, labels.places)
    return _classes(labels).take(pa.array(places, pa.int64(), mask=places < 0))


def _classes(labels: Labels) -> AnyArray:
    """Return classes in their common type, else as strings."""
    texts = [*map(text_of, labels.classes)]
    kinds = {*map(type, labels.classes)}
    try:
        if kinds == {bool}:
            return pa.array([bool(one) for one in labels.classes], pa.bool_())
        if kinds == {int}:
            return pa.array([int(one) for one in labels.classes], pa.int64())
        if kinds == {float}:
            return pa.array([float(one) for one in labels.classes], pa.float64())
    except (pa.ArrowInvalid, OverflowError):  # integers beyond 64 bits
        pass
    return pa.array(texts, pa.string())


END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"

ROWS_AT_ONCE = 16_384
"""The number of rows of a part of a table in memory."""


def csv_part(table: pa.Table, *, is_first: bool) -> bytes:
    """Return lines of CSV, after the header if they are the first."""
    import pyarrow.csv as pacsv  # imported here: Arrow's stream format does without it

    sink = pa.BufferOutputStream()
    options = pacsv.WriteOptions(include_header=is_first, quoting_style="needed")
    pacsv.write_csv(table, sink, options)
    return sink.getvalue().to_pybytes()


def stream_part(table: pa.Table, *, is_first: bool) -> bytes:
    """Return record batches, after the schema if they are the first."""
    batches = [batch.serialize().to_pybytes() for batch in table.combine_chunks().to_batches()]
    return b"".join([table.schema.serialize().to_pybytes() if is_first else b"", *batches])


class WritePart(Protocol):
    """A function that writes some rows of a table."""

    def __call__(self, table: pa.Table, /, *, is_first: bool) -> bytes:
        """Return the rows, after the file's beginning if they are the first."""


def parts_of(table: pa.Table, part: WritePart, end: bytes) -> Iterator[bytes]:
    """Yield the parts of a file of all rows, and its end."""
    for first in range(0, max(table.num_rows, 1), ROWS_AT_ONCE):
        made = part(table.slice(first, ROWS_AT_ONCE), is_first=first == 0)
        yield made if first + ROWS_AT_ONCE < table.num_rows else made + end


PIECE = 2**20
"""The approximate number of bytes of a file buffered in memory, in addition to one part and the footer."""


class BatchWriter(Protocol):
    """A writer of record batches to a file, whose footer it writes when it is closed."""

    def write_batch(self, batch: pa.RecordBatch, /) -> None:
        """Write the next rows."""

    def close(self) -> None:
        """Write the footer."""


OpenWriter: TypeAlias = "Callable[[pa.NativeFile, pa.Schema], BatchWriter]"


def assembled(parts: Iterator[bytes], open_writer: OpenWriter) -> Iterator[bytes]:
    """Yield a file in chunks, from the bytes of an Arrow stream in chunks of any size."""
    with pa.ipc.open_stream(pa.PythonFile(BufferedReader(_Joined(parts)), "r")) as stream:
        sink = _Sink()
        writer = open_writer(pa.PythonFile(sink, "w"), stream.schema)
        for batch in stream:
            writer.write_batch(batch)
            if sink.size >= PIECE:
                yield sink.taken()
        writer.close()
        yield sink.taken()


class _Joined(RawIOBase):
    """A readable file over chunks of bytes."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]  # the wider type has a name from 3.12 on
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


class _Sink(RawIOBase):
    """A writable file that buffers chunks until they are taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, piece: bytes, /) -> int:  # type: ignore[override]  # as above
        self._pieces.append(bytes(piece))
        self.size += len(piece)
        return len(piece)

    def taken(self) -> bytes:
        taken, self._pieces, self.size = b"".join(self._pieces), [], 0
        return taken
