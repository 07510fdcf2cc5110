"""Raw columns as they were uploaded: missing values, numbers, cells."""

from collections.abc import Collection, Iterable

import numpy as np

from relevance_bayes.core.types import Array, Mask
from relevance_bayes.tables.columns import Block, BooleanColumn, CategoryColumn, Column, NumberColumn, TimestampColumn
from relevance_bayes.tables.kinds import iso_8601
from relevance_bayes.types.values import Cell

MAX_QUOTED_LENGTH = 80


def gaps(column: Column) -> Mask:
    """Return a mask (N,) of missing values."""
    match column:
        case CategoryColumn(codes=codes):
            return np.less(codes, 0)
        case BooleanColumn(values=flags):
            return np.less(flags, 0)
        case NumberColumn(values=values) | TimestampColumn(values=values):
            return np.isnan(values)


def real_values(column: NumberColumn | BooleanColumn | TimestampColumn) -> Array:
    """Return the values (N,) as numbers, NaN where missing: booleans as 0 and 1, timestamps in seconds UTC."""
    if isinstance(column, BooleanColumn):
        return np.where(column.values < 0, np.nan, column.values).astype(np.float64)
    return column.values


def quoted(text: str) -> str:
    """Return a text for a message: in quotation marks, truncated if it is long."""
    return repr(text if len(text) <= MAX_QUOTED_LENGTH else text[:MAX_QUOTED_LENGTH] + "…")


def raw_cells(block: Block, row: int, names: Iterable[str], *, integral: Collection[str] = ()) -> dict[str, Cell]:
    """Return the cells of one row of a block as JSON values; numbers of the columns in `integral` as integers."""
    return {name: _cell(block[name], row, whole=name in integral) for name in names}


def _cell(column: Column, row: int, *, whole: bool) -> Cell:
    match column:
        case CategoryColumn(codes=codes, labels=labels):
            return labels[codes[row]] if codes[row] >= 0 else None
        case BooleanColumn(values=flags):
            return bool(flags[row]) if flags[row] >= 0 else None
        case NumberColumn(values=values):
            value = float(values[row])
            if np.isnan(value):
                return None
            return int(value) if whole and value.is_integer() else value
        case TimestampColumn(values=values):
            seconds = float(values[row])
            return None if np.isnan(seconds) else iso_8601(seconds)
