"""A random sample of training rows, as they are before encoding."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from relevance_bayes.core.types import Mask
from relevance_bayes.tables.columns import (
    Block,
    BooleanColumn,
    CategoryColumn,
    Column,
    NumberColumn,
    TimestampColumn,
    taken,
)

MAX_ROWS = 4_096
MAX_CELLS = 2**20
"""The maximum number of rows times columns, 8 MiB of numbers."""


class RowSample:
    """Collects about MAX_ROWS of `rows` rows from their parts, all where there are fewer, the same ones each time."""

    def __init__(self, names: Sequence[str], *, rows: int) -> None:
        self._names = tuple(dict.fromkeys(names))
        self._share = min(MAX_ROWS, max(1, MAX_CELLS // len(self._names))) / max(rows, 1)
        self._random = np.random.default_rng(0)
        self._blocks: list[Block] = []

    def add(self, block: Block, chosen: Mask) -> None:
        """Take from a part the rows for which `chosen` (N,) is true."""
        if self._share < 1.0:
            chosen = chosen & (self._random.random(len(chosen)) < self._share)
        rows = np.flatnonzero(chosen)
        if len(rows):
            self._blocks.append({name: taken(block[name], rows) for name in self._names})

    def block(self) -> Block:
        """Return the sample as one block, empty without rows."""
        if not self._blocks:
            return {}
        return {name: joined([block[name] for block in self._blocks]) for name in self._names}


def joined(columns: Sequence[Column]) -> Column:
    """Return the rows of columns of the same kind, at least one, as one column."""
    if len(columns) == 1:
        return columns[0]
    match columns[0]:
        case CategoryColumn():
            return _joined_categories([column for column in columns if isinstance(column, CategoryColumn)])
        case BooleanColumn():
            return BooleanColumn(np.concatenate([one.values for one in columns if isinstance(one, BooleanColumn)]))
        case NumberColumn():
            return NumberColumn(np.concatenate([one.values for one in columns if isinstance(one, NumberColumn)]))
        case TimestampColumn():
            return TimestampColumn(np.concatenate([one.values for one in columns if isinstance(one, TimestampColumn)]))


def _joined_categories(columns: Sequence[CategoryColumn]) -> CategoryColumn:
    labels = tuple(dict.fromkeys(chain.from_iterable(column.labels for column in columns)))
    places = {label: place for place, label in enumerate(labels)}
    codes = [np.array([*(places[label] for label in column.labels), -1], np.int32)[column.codes] for column in columns]
    return CategoryColumn(np.concatenate(codes), labels)
