"""Small tables for tests, written as lists of cells, and datasets with the statistics that an upload gives them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from uuid import UUID

import numpy as np

from app.datasets.records import Dataset
from relevance_bayes.records.values import Cell, ColumnKind
from relevance_bayes.tables.columns import (
    Block,
    BooleanArray,
    CategoryArray,
    Column,
    NumberArray,
    TimestampArray,
    block_rows,
)
from relevance_bayes.tables.statistics import TableStatistics

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)
DATASET_ID = UUID("01900000-0000-7000-8000-000000000001")

KINDS: dict[type[Column], ColumnKind] = {
    NumberArray: "number",
    BooleanArray: "boolean",
    CategoryArray: "category",
    TimestampArray: "timestamp",
}


def numbers(*values: float | None) -> NumberArray:
    return NumberArray(np.array([np.nan if value is None else value for value in values], np.float64))


def moments(*values: float | None) -> TimestampArray:
    return TimestampArray(np.array([np.nan if value is None else value for value in values], np.float64))


def flags(*values: bool | None) -> BooleanArray:
    return BooleanArray(np.array([-1 if value is None else value for value in values], np.int8))


def texts(*values: str | None) -> CategoryArray:
    labels = tuple(dict.fromkeys(value for value in values if value is not None))
    codes = [-1 if value is None else labels.index(value) for value in values]
    return CategoryArray(np.array(codes, np.int32), labels)


def column_of(kind: ColumnKind, cells: Sequence[Cell]) -> Column:
    """A column of cells that are right for its kind; timestamps are seconds here."""
    if kind == "category":
        return texts(*(cell if isinstance(cell, str) else None for cell in cells))
    if kind == "boolean":
        return flags(*(cell if isinstance(cell, bool) else None for cell in cells))
    real = (float(cell) if isinstance(cell, int | float) else None for cell in cells)
    return moments(*real) if kind == "timestamp" else numbers(*real)


def rows_of(block: Block, chosen: Sequence[int]) -> Block:
    """Some rows of a block, in that order, as a block of their own with its own numbering of labels."""
    selected: dict[str, Column] = {}
    for name, column in block.items():
        match column:
            case CategoryArray(codes=codes, labels=labels):
                selected[name] = texts(*(labels[codes[row]] if codes[row] >= 0 else None for row in chosen))
            case BooleanArray(values=values):
                selected[name] = BooleanArray(values[list(chosen)])
            case NumberArray(values=real):
                selected[name] = NumberArray(real[list(chosen)])
            case TimestampArray(values=real):
                selected[name] = TimestampArray(real[list(chosen)])
    return selected


def cut_up(block: Block, *ends: int) -> list[tuple[int, Block]]:
    """The block cut after the given rows, each piece with the number of its first row."""
    edges = [0, *ends, block_rows(block)]
    return [(start, rows_of(block, range(start, stop))) for start, stop in pairwise(edges)]


def dataset_of(block: Mapping[str, Column], name: str = "small table") -> Dataset:
    """A dataset with the statistics that its upload would have gathered."""
    statistics = TableStatistics(tuple(block), tuple(KINDS[type(column)] for column in block.values()))
    statistics.add(block)
    return Dataset(
        id=DATASET_ID,
        owner="local",
        name=name,
        created_at=datetime(2024, 5, 1, tzinfo=UTC),
        rows=block_rows(block),
        digest=statistics.digest(),
        columns=statistics.summaries(),
    )
