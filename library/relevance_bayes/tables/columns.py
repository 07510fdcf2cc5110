"""Tables of typed columns, as uploaded, before they are encoded to a matrix, and their summaries."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import not_
from typing import TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.records.annotations import is_none
from relevance_bayes.records.datasets import ColumnReading, Image
from relevance_bayes.records.values import ColumnKind, Label


@dataclass(frozen=True, eq=False)
class NumberArray:
    """Finite numbers; `values` (N,) has NaN where missing."""

    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BooleanArray:
    """True and false; `values` (N,) is 1, 0, or -1 where missing."""

    values: NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class TimestampArray:
    """Points in time; `values` (N,) is seconds since 1970 UTC, NaN where missing."""

    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CategoryArray:
    """Texts; `codes` (N,) are indices into the block's own `labels`, -1 where missing.

    Two blocks may number labels differently.
    """

    codes: NDArray[np.int32]
    labels: tuple[str, ...]


Column = NumberArray | BooleanArray | TimestampArray | CategoryArray

Block = Mapping[str, Column]
"""Consecutive rows of a table: all columns by name, in the table's order, of the same length."""


@dataclass(frozen=True, eq=False)
class NumberBlock(Mapping[str, Column]):
    """A block of numbers as one `matrix` (N, k), in the order of `names` (k), NaN where missing."""

    names: tuple[str, ...]
    matrix: NDArray[np.float64]

    def __getitem__(self, name: str) -> NumberArray:
        return NumberArray(self.matrix[:, self._places[name]])

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def columns(self, names: tuple[str, ...]) -> NDArray[np.float64]:
        """Return the columns `names` (j) as one matrix (N, j)."""
        if names == self.names:
            return self.matrix
        return self.matrix.take([self._places[name] for name in names], axis=1)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {name: place for place, name in enumerate(self.names)}


def block_rows(block: Block) -> int:
    """Return the number of rows of a block."""
    if isinstance(block, NumberBlock):
        return len(block.matrix)
    for column in block.values():
        return len(column.codes if isinstance(column, CategoryArray) else column.values)
    return 0


MAX_CELLS_OF_A_BLOCK = 2**19
"""The maximum number of cells of a block, 4 MiB of numbers; storing one takes milliseconds."""


def rows_of_a_block(columns: int) -> int:
    """Return the number of rows, of so many columns, that are stored together."""
    return max(1, MAX_CELLS_OF_A_BLOCK // max(columns, 1))


def taken(column: Column, rows: "NDArray[np.intp] | slice[int, int, None]") -> Column:
    """Return rows of a column, by their indices."""
    match column:
        case CategoryArray():
            return replace(column, codes=column.codes[rows])
        case BooleanArray():
            return replace(column, values=column.values[rows])
        case NumberArray() | TimestampArray():
            return replace(column, values=column.values[rows])


def kind_of(column: Column) -> ColumnKind:
    """Return the kind of a column."""
    return next(kind for kind, empty in _EMPTY.items() if isinstance(column, type(empty)))


_EMPTY: Mapping[ColumnKind, Column] = {
    "number": NumberArray(np.zeros(0)),
    "boolean": BooleanArray(np.zeros(0, np.int8)),
    "category": CategoryArray(np.zeros(0, np.int32), ()),
    "timestamp": TimestampArray(np.zeros(0)),
}


def no_rows(columns: Iterable[tuple[str, ColumnKind]]) -> Block:
    """Return a block without rows, of columns by their names and kinds."""
    return {name: _EMPTY[kind] for name, kind in columns}


@dataclass(frozen=True, eq=False)
class Labels:
    """For each of N rows the index of one of `classes` (N,), -1 for none."""

    classes: tuple[Label, ...]
    places: NDArray[np.intp]


FlatColumn: TypeAlias = "NDArray[np.float64] | Labels"
"""A column of predictions for N rows: numbers (N,), NaN where missing, or labels."""


@dataclass(frozen=True)
class ColumnSummary:
    """The summary of one column of a complete dataset.

    `minimum`, `maximum`, `mean`, `sd` (population) are for numbers, booleans (as 0 and 1) and timestamps (seconds UTC),
    None where no value is present. `categories` lists labels with counts, most frequent first, ties by label, at most
    `MAX_CATEGORIES_LISTED`; `distinct` is the number of distinct values, or None above that maximum (for every kind).
    `integral`: all numbers present are integers below 2^53 in magnitude. `values` are the distinct values of a number
    column in ascending order, where `distinct` is known. `quantiles` of numbers and timestamps are at the LEVELS of
    `relevance_bayes.tables.statistics`, and `histogram` the numbers of values in bins of equal width from `minimum` to
    `maximum`; both are empty without values. `reading` is how the texts of a file were read, where the kind is not all.
    `labels` are the distinct texts, by alphabet, or integers, ascending, where there are more than
    `MAX_CATEGORIES_LISTED` and at most `MAX_CLASSES`.
    """

    name: str
    kind: ColumnKind
    missing: int
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    sd: float | None = None
    integral: bool = False
    distinct: int | None = None
    categories: tuple[tuple[str, int], ...] = ()
    values: tuple[float, ...] = ()
    quantiles: tuple[float, ...] = ()
    histogram: tuple[int, ...] = ()
    reading: ColumnReading | None = field(default=None, metadata={"exclude_if": is_none})
    labels: tuple[Label, ...] = field(default=(), metadata={"exclude_if": not_})


MAX_CATEGORIES_LISTED = 50
"""Also the maximum number of labels of a text column that is encoded by a 0/1 column for each."""

MAX_CLASSES = 1_000
"""The maximum number of classes of a target."""


IMAGE_COLUMNS = ("row", "column", "intensity")
"""The columns of an image's table: a row for each pixel, in row-major order from (0, 0)."""


@dataclass(frozen=True)
class TableSummary:
    """The size and the columns of a table; an image has `image` and the columns `IMAGE_COLUMNS`."""

    name: str
    rows: int
    columns: tuple[ColumnSummary, ...]
    image: Image | None = None

    def column(self, name: str) -> ColumnSummary | None:
        """Return the summary of one column, or None."""
        return next((column for column in self.columns if column.name == name), None)


@dataclass(frozen=True, kw_only=True)
class IdentifiedTable(TableSummary):
    """A table that versions refer to.

    `digest` is the SHA-256 of its typed content (names, kinds and values), not of a file.
    """

    id: UUID
    digest: str
