"""JSON values to typed columns."""

from collections.abc import Iterator, Sequence
from itertools import chain
from types import NoneType

import numpy as np
from numpy.typing import NDArray

from app.formats.cell_faults import (
    MAX_FAULTS,
    NOT_OF_KIND,
    CellFault,
    CellFaults,
    bad_text,
    long_integer,
    not_a,
    not_finite,
    out_of_range,
)
from relevance_bayes.records.values import ColumnKind, text_of
from relevance_bayes.tables.columns import BooleanColumn, CategoryColumn, Column, NumberColumn, TimestampColumn
from relevance_bayes.tables.kinds import MAX_EXACT_INTEGER, is_nanoseconds, seconds_of

JSON = str | int | float | bool | None | list["JSON"] | dict[str, "JSON"]
"""Any JSON value."""

NUMBERS = frozenset({int, float, NoneType})
PRESENT_NUMBERS = frozenset({int, float})
MAX_CELLS_TOGETHER = 100
"""The maximum number of rows of a table whose numbers are converted at once."""


def column_of(kind: ColumnKind, cells: Sequence[JSON], *, exact: bool = False) -> tuple[Column, CellFaults]:
    """Return a column (N,) of `kind` from N cells, missing where they are None or do not fit, and the faults.

    A string is not accepted as a number, boolean or timestamp, nor a number as a timestamp; 0 and 1 are accepted as
    booleans, and a text column takes numbers and booleans as JSON writes them. `exact` refuses integers that float64
    would round.
    """
    match kind:
        case "number":
            return _numbers(cells, exact=exact)
        case "boolean":
            return _booleans(cells)
        case "category":
            return _texts(cells)
        case "timestamp":
            return _timestamps(cells)


def block_of(
    columns: Sequence[tuple[str, ColumnKind]], cells: Sequence[Sequence[JSON]]
) -> tuple[dict[str, Column], dict[str, CellFaults]]:
    """Return columns of N cells each by name, and their faults by name.

    Each row with a cell that does not fit has at least one fault; all faults are listed up to `MAX_FAULTS`. The numbers
    of a short table are converted at once where all fit, since most predictions are for one such row.
    """
    together = _numbers_together([row for (_, kind), row in zip(columns, cells, strict=True) if kind == "number"])
    block: dict[str, Column] = {}
    wrong: dict[str, CellFaults] = {}
    count, rows = 0, set[int]()
    for (name, kind), values in zip(columns, cells, strict=True):
        if together is not None and kind == "number":
            block[name] = NumberColumn(next(together))
            continue
        block[name], cell_faults = column_of(kind, values)
        if count > MAX_FAULTS:  # beyond the maximum, one fault a row is enough
            cell_faults = [one for one in cell_faults if one.row not in rows]
        if cell_faults:
            wrong[name] = cell_faults
            count += len(cell_faults)
            rows.update(one.row for one in cell_faults)
    return block, wrong


def _numbers_together(columns: Sequence[Sequence[JSON]]) -> Iterator[NDArray[np.float64]] | None:
    """Return the columns, None where there are none, they are long, or a cell does not fit."""
    if not columns or len(columns[0]) > MAX_CELLS_TOGETHER:
        return None
    flat = list(chain.from_iterable(columns))
    if not {*map(type, flat)} <= PRESENT_NUMBERS:
        return None
    try:
        values = np.array(flat, dtype=np.float64)
    except OverflowError:
        return None
    return iter(values.reshape(len(columns), -1)) if np.isfinite(values).all() else None


def _numbers(cells: Sequence[JSON], *, exact: bool) -> tuple[NumberColumn, CellFaults]:
    types = set(map(type, cells))
    if types <= NUMBERS and not (exact and int in types and any(map(_is_long, cells))):
        try:
            values = np.array(cells, dtype=np.float64)
        except OverflowError:
            pass
        else:
            finite = np.isfinite(values)
            if finite.all() or len(cells) - int(finite.sum()) == cells.count(None):
                return NumberColumn(values), []
    values = np.full(len(cells), np.nan)
    cell_faults: CellFaults = []
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        if isinstance(cell, bool) or not isinstance(cell, int | float):
            cell_faults.append(_not_a("number", row, cell, cell_faults))
        elif exact and _is_long(cell):
            cell_faults.append(long_integer(row, cell))
        else:
            try:
                values[row] = cell
            except OverflowError:
                cell_faults.append(CellFault(row, out_of_range(cell)))
            else:
                if not np.isfinite(values[row]):
                    values[row] = np.nan
                    cell_faults.append(CellFault(row, not_finite(str(cell))))
    return NumberColumn(values), cell_faults


def _not_a(kind: ColumnKind, row: int, cell: JSON, before: CellFaults) -> CellFault:
    detail = not_a(kind, cell) if len(before) < MAX_FAULTS else NOT_OF_KIND[kind]
    return CellFault(row, detail, "other_kind")


def _is_long(cell: JSON) -> bool:
    return type(cell) is int and abs(cell) > MAX_EXACT_INTEGER and not is_nanoseconds(cell)


def _booleans(cells: Sequence[JSON]) -> tuple[BooleanColumn, CellFaults]:
    values = np.full(len(cells), -1, dtype=np.int8)
    cell_faults: CellFaults = []
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        if isinstance(cell, int | float) and cell in (0, 1):
            values[row] = int(cell)
        else:
            cell_faults.append(_not_a("boolean", row, cell, cell_faults))
    return BooleanColumn(values), cell_faults


def _timestamps(cells: Sequence[JSON]) -> tuple[TimestampColumn, CellFaults]:
    values = np.full(len(cells), np.nan)
    cell_faults: CellFaults = []
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        seconds = seconds_of(cell) if isinstance(cell, str) else None
        if seconds is None:
            cell_faults.append(_not_a("timestamp", row, cell, cell_faults))
        else:
            values[row] = seconds
    return TimestampColumn(values), cell_faults


def _texts(cells: Sequence[JSON]) -> tuple[CategoryColumn, CellFaults]:
    cell_faults: CellFaults = []
    texts: list[str | None] = []
    for row, cell in enumerate(cells):
        if cell is None or isinstance(cell, str):
            texts.append(cell)
        elif isinstance(cell, int | float):
            texts.append(text_of(cell))
        else:
            texts.append(None)
            cell_faults.append(_not_a("category", row, cell, cell_faults))
    index: dict[str | None, int] = {None: -1}
    for text in dict.fromkeys(texts):
        if text is not None:
            index[text] = len(index) - 1
    unfit = {text: reason for text in index if text is not None and (reason := bad_text(text)) is not None}
    if unfit:
        cell_faults.extend(CellFault(row, unfit[text]) for row, text in enumerate(texts) if text in unfit)
        return _texts([None if text in unfit else text for text in texts])[0], sorted(cell_faults)
    codes = np.fromiter(map(index.__getitem__, texts), np.int32, len(texts))
    return CategoryColumn(codes, tuple(text for text in index if text is not None)), cell_faults
