"""Columns of DataFrames and arrays as typed columns of a table, by the rules of the service for Parquet."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import islice
from numbers import Integral, Real
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.tables.columns import BooleanColumn, CategoryColumn, Column, NumberColumn, TimestampColumn
from relevance_bayes.tables.kinds import (
    FIRST_SECOND,
    LAST_SECOND,
    MAX_EXACT_INTEGER,
    ROWS_LOOKED_AT,
    kind_of_cells,
    seconds_of,
)
from relevance_bayes.types.values import Cell, ColumnKind

Raw: TypeAlias = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.object_]
"""An array of any type that columns have."""


@runtime_checkable
class Table(Protocol):
    """Named columns, as DataFrames of pandas and polars and tables of pyarrow have them."""

    @property
    def columns(self) -> Iterable[object]:
        """The columns, or their names."""

    def __getitem__(self, name: str) -> object:
        """Return one column."""


@runtime_checkable
class Series(Protocol):
    """A column of a table."""

    def to_numpy(self) -> Raw:
        """Return its values."""


@runtime_checkable
class _Convertible(Protocol):
    """A column of pandas."""

    @property
    def dtype(self) -> object:
        """The type of its values."""

    def astype(self, dtype: type[object]) -> object:
        """Return its values as another type."""


def named_table(X: object) -> tuple[Table, tuple[str, ...]] | None:
    """Return a table with the names of its columns; None for what has none, and for names that are no texts."""
    if not isinstance(X, Table):
        return None
    listed = getattr(X, "column_names", None)
    names = tuple(X.columns if listed is None else listed)
    return (X, names) if all(isinstance(name, str) for name in names) else None


def table_column(table: Table, name: str, kind: ColumnKind | None = None) -> Column:
    """Return a column of a table as one of the `kind`, by default of that of its values.

    Raises ValueError, also for a name of several columns.
    """
    column = table[name]
    if isinstance(column, _Convertible) and type(column.dtype).__name__ == "CategoricalDtype":
        # Of pandas, whose categories may be numbers; as an array they are floats where a value is missing.
        column, kind = column.astype(object), kind or "category"
    values = to_numpy(column)
    if values.ndim != 1:
        raise ValueError(f"Expected one column `{name}`, got {values.shape[-1]}.")
    return typed_column(name, values, kind)


def to_numpy(values: object) -> Raw:
    """Return a column of a table, or a list, as an array."""
    found: Raw = np.array(values.to_numpy() if isinstance(values, Series) else values)
    return found


def typed_column(name: str, values: Raw, kind: ColumnKind | None = None) -> Column:
    """Return `values` (N,) as a column of the `kind`, by default of that of the values; raises ValueError."""
    match values.dtype.kind:
        case "b" if kind in {None, "boolean"}:
            return BooleanColumn(values.astype(np.int8))
        case "f" if kind in {None, "number"}:
            return NumberColumn(_finite(name, values))
        case "i" | "u" if kind in {None, "number"} and are_exact(values):
            return NumberColumn(values.astype(np.float64))
        case "M" if kind in {None, "timestamp"}:
            return TimestampColumn(_seconds(name, values))
        case "m":
            raise ValueError(f"`{name}` has durations; convert them to numbers.")
    cells = [_cell(name, value) for value in values.tolist()]
    if kind is None:
        kind = kind_of_cells(map(_plain, islice(cells, ROWS_LOOKED_AT)))
    return _READERS[kind](name, cells)


def are_exact(integers: Raw) -> bool:
    """Return whether all integers are float64; the service takes others for ids, which are texts."""
    return bool((np.abs(integers.astype(np.float64)) <= MAX_EXACT_INTEGER).all())


def is_missing(value: object) -> bool:
    """Return whether a value of an array of objects is a gap: None, NaN, NaT, NA."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in {"NAType", "NaTType"}


_Value: TypeAlias = Cell | datetime


def _cell(name: str, value: object) -> _Value:
    """Return a value of an array of objects; None for a gap: None, NaN, NaT, NA."""
    match value:
        case None | bool() | str() | datetime():
            return None if value is not None and value != value else value
        case date():
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
        case Integral():
            return int(value)
        case Real():
            number = float(value)
            return None if np.isnan(number) else number
        case np.bool_():
            return bool(value)
    if is_missing(value):
        return None
    if hasattr(value, "is_finite") and hasattr(value, "as_integer_ratio"):  # Decimal, which is no Real
        return _cell(name, float(str(value)))
    raise TypeError(f"argument must be a string or a number: `{name}` has a {type(value).__name__}.")


def _plain(value: _Value) -> Cell:
    return value.isoformat() if isinstance(value, datetime) else value


def _numbers(name: str, cells: Sequence[_Value]) -> NumberColumn:
    numbers = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if isinstance(cell, bool | str | datetime):
            raise ValueError(f"`{name}` is {cell!r} in row {row}, expected a number.")
        if cell is not None:
            numbers[row] = cell
    return NumberColumn(_finite(name, numbers))


def _booleans(name: str, cells: Sequence[_Value]) -> BooleanColumn:
    for row, cell in enumerate(cells):
        if not isinstance(cell, bool | None):
            raise ValueError(f"`{name}` is {cell!r} in row {row}, expected true or false.")
    return BooleanColumn(np.array([-1 if cell is None else int(cell is True) for cell in cells], np.int8))


def _texts(name: str, cells: Sequence[_Value]) -> CategoryColumn:
    texts = [None if cell is None else str(_plain(cell)) for cell in cells]
    labels = tuple(sorted({text for text in texts if text is not None}))
    places = {label: place for place, label in enumerate(labels)}
    return CategoryColumn(np.array([-1 if text is None else places[text] for text in texts], np.int32), labels)


def _timestamps(name: str, cells: Sequence[_Value]) -> TimestampColumn:
    seconds = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        found = seconds_of(str(_plain(cell)))
        if found is None:
            raise ValueError(f"`{name}` is {cell!r} in row {row}, expected a point in time of the years 1 to 9999.")
        seconds[row] = found
    return TimestampColumn(seconds)


_READERS: Mapping[ColumnKind, Callable[[str, Sequence[_Value]], Column]] = {
    "number": _numbers,
    "boolean": _booleans,
    "category": _texts,
    "timestamp": _timestamps,
}


def _finite(name: str, values: Raw) -> NDArray[np.float64]:
    numbers = values.astype(np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"`{name}` contains infinity, expected finite numbers.")
    return numbers


def _seconds(name: str, values: Raw) -> NDArray[np.float64]:
    """Return seconds since 1970 UTC; raises ValueError for those outside the years 1 to 9999."""
    unit, ticks = ("ns", 1_000_000_000) if values.dtype.str.endswith("[ns]") else ("us", 1_000_000)
    moments = values.astype(f"datetime64[{unit}]")
    missing = np.isnat(moments)
    whole = np.where(missing, 0, moments.astype(np.int64))
    # Divided in two steps, because float64 can't represent all nanoseconds since 1970.
    seconds = np.where(missing, np.nan, np.floor_divide(whole, ticks) + np.remainder(whole, ticks) / ticks)
    if ((seconds < FIRST_SECOND) | (seconds > LAST_SECOND)).any():
        raise ValueError(f"`{name}` has a point in time outside of the years 1 to 9999.")
    return seconds
