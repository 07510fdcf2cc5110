"""Arrow's columns, from Parquet and IPC, to typed columns; nested and binary types are not supported."""

import numpy as np
import pyarrow as pa

from app.formats.cell_faults import CellFault, CellFaults, long_integer, not_finite, shown
from app.formats.cells import column_of
from relevance_bayes.tables.columns import Column, NumberColumn, TimestampColumn
from relevance_bayes.tables.kinds import (
    END_SECOND,
    FIRST_SECOND,
    MAX_EXACT_INTEGER,
    is_nanoseconds,
    iso_8601,
    kind_of_cells,
)
from relevance_bayes.types.values import Cell, ColumnKind

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
        return TimestampColumn(seconds), cell_faults
    return column_of(kind, cells_of(values), exact=exact)


def _numbers(values: pa.Array, *, exact: bool) -> tuple[NumberColumn, CellFaults]:  # type: ignore[type-arg]
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
    return NumberColumn(numbers), cell_faults


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
