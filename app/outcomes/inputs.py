"""The inputs of recorded rows as JSON, and back to a block."""

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from app.formats.cells import JSON, column_of
from relevance_bayes.core.types import Indices
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import (
    Block,
    BooleanArray,
    CategoryArray,
    Column,
    NumberArray,
    TimestampArray,
    taken,
)

Columns = Sequence[tuple[str, ColumnKind]]


def rows_of(block: Block, names: Sequence[str], places: Indices) -> Iterator[str]:
    """Yield some rows of a block as JSON arrays, with the columns `names` that it has, in their order."""
    cells = [_cells(taken(block[name], places)) for name in names if name in block]
    return (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in zip(*cells, strict=True))


def _cells(column: Column) -> list[JSON]:
    match column:
        case CategoryArray():
            labels: tuple[JSON, ...] = (*column.labels, None)
            return [labels[code] for code in column.codes.tolist()]
        case BooleanArray():
            return [None if value < 0 else bool(value) for value in column.values.tolist()]
        case NumberArray() | TimestampArray():
            return [None if value != value else value for value in column.values.tolist()]


def block_of_rows(rows: Sequence[str], columns: Columns, noise: str | None) -> Mapping[str, Column]:
    """Return the block of recorded rows, at least one; all of them have the column `noise`, or none has it."""
    read: list[list[JSON]] = [json.loads(row) for row in rows]
    named = columns if noise is None or len(read[0]) == len(columns) else [*columns, (noise, "number")]
    cells = zip(*read, strict=True)
    return {name: _column(kind, column) for (name, kind), column in zip(named, cells, strict=True)}


def _column(kind: ColumnKind, cells: Sequence[JSON]) -> Column:
    if kind == "timestamp":
        return TimestampArray(np.array(cells, np.float64))
    return column_of(kind, cells)[0]
