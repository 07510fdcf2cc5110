"""Parquet as a stream of typed blocks: the file's own types decide, nested and binary ones are refused."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from app.api.formats.cells import column_of
from app.api.formats.misfits import Misfits, not_finite, refuse, shown, too_long_an_integer
from app.api.formats.spool import SpoolFile
from app.api.formats.streams import TableStream, check_names, kinds_of, rows_of_a_block
from app.domain.encoding import iso_8601
from app.domain.errors import Fault, InvalidDataError, MalformedBodyError, TooLargeError
from app.domain.kinds import FIRST_SECOND, LARGEST_EXACT_INTEGER, LAST_SECOND, ROWS_LOOKED_AT, kind_of_cells
from app.domain.tables import Block, Cell, Column, ColumnKind, NumberColumn, TimestampColumn

TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
BUFFER = 2**20


def open_parquet(
    file: SpoolFile, *, declared: Mapping[str, ColumnKind], most_columns: int, most_rows: int
) -> TableStream:
    """A Parquet file as a stream of blocks.

    Numbers (also decimals), booleans, texts, dates and timestamps are read; NaN and infinity are refused, null is a
    missing value. Raises MalformedBodyError, InvalidDataError, InvalidRequestError (a kind declared for an unknown
    column), TooLargeError.
    """
    try:
        parquet = pq.ParquetFile(file.reader(), buffer_size=BUFFER, pre_buffer=False)
        schema, rows = parquet.schema_arrow, parquet.metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        raise _malformed(error) from None
    names = tuple(schema.names)
    check_names(names, most_columns=most_columns)
    if rows > most_rows:
        raise TooLargeError(f"The table has {rows:,} rows, where {most_rows:,} are the most.")
    refuse(
        [
            Fault(f"The type {field.type} can't be read.", column=field.name)
            for field in schema
            if not _readable(field.type)
        ]
    )
    batches = _batches(parquet, rows_of_a_block(len(names)))
    head = _head(batches)
    if not head:
        raise InvalidDataError("The table has no rows.")
    table = pa.Table.from_batches(head).slice(0, ROWS_LOOKED_AT)
    kinds = kinds_of(names, declared, (_kind_of(table, position) for position in range(len(names))))
    inferred = frozenset(names) - declared.keys()
    return TableStream(names, kinds, _blocks(chain(head, batches), names, kinds, inferred))


def _malformed(error: Exception) -> MalformedBodyError:
    reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return MalformedBodyError(f"The file can't be read as Parquet; is it cut off? {reason[:200]}.")


def _batches(parquet: pq.ParquetFile, step: int) -> Iterator[pa.RecordBatch]:
    try:
        for batch in parquet.iter_batches(batch_size=step, use_threads=False):
            batch.validate(full=True)  # texts that are not UTF-8, codes beyond their dictionary
            if batch.num_rows:
                yield batch
    except (pa.ArrowException, OSError) as error:
        raise _malformed(error) from None


def _head(batches: Iterator[pa.RecordBatch]) -> list[pa.RecordBatch]:
    head: list[pa.RecordBatch] = []
    for batch in batches:
        head.append(batch)
        if sum(one.num_rows for one in head) >= ROWS_LOOKED_AT:
            break
    return head


def _values(kind: pa.DataType) -> pa.DataType:
    """The type of a column's values, behind a dictionary."""
    return kind.value_type if isinstance(kind, pa.DictionaryType) else kind


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _is_time(kind: pa.DataType) -> bool:
    return pa.types.is_timestamp(kind) or pa.types.is_date(kind)


def _readable(kind: pa.DataType) -> bool:
    values = _values(kind)
    plain = pa.types.is_boolean(values) or pa.types.is_null(values)
    return plain or _is_number(values) or _is_text(values) or _is_time(values)


def _kind_of(table: pa.Table, position: int) -> ColumnKind:
    column = table.column(position)
    kind = _values(column.type)
    if _is_time(kind):
        return "timestamp"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    return kind_of_cells(_cells(column.combine_chunks()))


def _cells(values: pa.Array) -> list[Cell]:  # type: ignore[type-arg]  # the stubs' class takes a parameter, Arrow's own does not
    """The values as JSON has them."""
    if isinstance(values, pa.DictionaryArray):
        values = values.dictionary_decode()
    kind = values.type
    if _is_time(kind):
        seconds, _ = _seconds(values)
        return [None if np.isnan(second) else iso_8601(float(second)) for second in seconds]
    if pa.types.is_decimal(kind):
        values = pc.cast(values, pa.float64())
    return [cell if cell is None or isinstance(cell, str | int | float) else str(cell) for cell in values.to_pylist()]


def _blocks(
    batches: Iterator[pa.RecordBatch], names: Sequence[str], kinds: Sequence[ColumnKind], inferred: frozenset[str]
) -> Iterator[Block]:
    first_row = 0
    for batch in batches:
        block: dict[str, Column] = {}
        faults: list[Fault] = []
        for name, kind, values in zip(names, kinds, batch.columns, strict=True):
            block[name], misfits = _column(kind, values, exact=name in inferred)
            faults.extend(Fault(detail, row=first_row + row, column=name) for row, detail in misfits)
        refuse(sorted(faults, key=lambda fault: fault.row or 0), inferred=inferred)
        first_row += batch.num_rows
        yield block


def _column(kind: ColumnKind, values: pa.Array, *, exact: bool) -> tuple[Column, Misfits]:  # type: ignore[type-arg]
    """The fast roads for numbers and times of their own type, else cell by cell."""
    own = values.type
    if kind == "number" and (_is_number(own)):
        return _numbers(values, exact=exact)
    if kind == "timestamp" and _is_time(own):
        seconds, misfits = _seconds(values)
        return TimestampColumn(seconds), misfits
    return column_of(kind, _cells(values), exact=exact)


def _numbers(values: pa.Array, *, exact: bool) -> tuple[NumberColumn, Misfits]:  # type: ignore[type-arg]
    numbers = pc.cast(values, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    missing = values.is_null().to_numpy(zero_copy_only=False)
    strange = np.flatnonzero(~np.isfinite(numbers) & ~missing)
    misfits = [(int(row), not_finite(str(numbers[row]))) for row in strange]
    if exact and pa.types.is_integer(values.type):
        large = np.flatnonzero(np.abs(numbers) >= LARGEST_EXACT_INTEGER)
        whole = [(int(row), values[int(row)].as_py()) for row in large]
        misfits += [(row, too_long_an_integer(n)) for row, n in whole if abs(n) > LARGEST_EXACT_INTEGER]
    return NumberColumn(numbers), misfits


def _seconds(values: pa.Array) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], Misfits]:  # type: ignore[type-arg]
    """Seconds since 1970 UTC, and which lie outside the years 1 to 9999."""
    if pa.types.is_date(values.type):
        values = pc.cast(values, pa.timestamp("s"))
    ticks = TICKS[values.type.unit]
    whole = pc.cast(values, pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    # Divided in two parts, because float64 does not hold all nanoseconds since 1970.
    seconds = np.floor_divide(whole, ticks) + np.remainder(whole, ticks) / ticks
    missing = values.is_null().to_numpy(zero_copy_only=False)
    outside = (seconds < FIRST_SECOND) | (seconds > LAST_SECOND)
    seconds[missing | outside] = np.nan
    rows = np.flatnonzero(outside & ~missing)
    return seconds, [
        (int(row), f"{shown(int(whole[row]))} {values.type.unit} since 1970 is no year from 1 to 9999.") for row in rows
    ]
