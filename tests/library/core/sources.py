"""Sources of rows beside those of the service: divided among workers, and made block by block."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from relevance_bayes.core import rows as row_source
from relevance_bayes.core.rows import (
    ArrayRows,
    PairwiseSum,
    Reduction,
    RowBlock,
    S,
    n_blocks,
    reduce_blocks,
    sum_in_order,
)
from relevance_bayes.core.types import Array, Indices


@dataclass(frozen=True, eq=False)
class PartitionedRows:
    """Rows whose blocks are divided among workers, each of which has the blocks of some numbers and sums its own.

    The sums are merged in the order of `parts`.
    """

    full: ArrayRows
    parts: tuple[tuple[int, ...], ...]

    @property
    def inputs(self) -> int:
        return self.full.inputs

    @property
    def t(self) -> Array:
        return self.full.t

    @property
    def precisions(self) -> Array | None:
        return self.full.precisions

    @property
    def threads(self) -> int:
        return self.full.threads

    def reduce(self, reduction: Reduction[S], max_rows: int = row_source.BLOCK_ROWS) -> S:
        found = PairwiseSum[S]()
        for part in self.parts:
            found.merge(reduce_blocks(self.full.block, part, reduction, max_rows))
        return found.total(len(self.t))

    def every(self) -> RowBlock:
        return self.full.every()

    def take_inputs(self, chosen: Indices) -> Array:
        return self.full.take_inputs(chosen)

    def with_targets(self, t: Array, precisions: Array | None) -> "PartitionedRows":
        return replace(self, full=self.full.with_targets(t, precisions))


def partitioned(full: ArrayRows, parts: int) -> PartitionedRows:
    """Blocks dealt to so many workers, whose sums come in from the last worker to the first."""
    numbers = range(n_blocks(len(full.t)))
    return PartitionedRows(full, tuple(tuple(numbers[place::parts]) for place in reversed(range(parts))))


@dataclass(frozen=True, eq=False)
class GeneratedRows:
    """Rows whose inputs are made anew for each pass, a block at a time: there is no X to be had as a whole."""

    make: Callable[[], Iterator[Array]]
    inputs: int
    t: Array
    precisions: Array | None = None
    threads: int = 1

    def reduce(self, reduction: Reduction[S], max_rows: int = row_source.BLOCK_ROWS) -> S:
        found, size = PairwiseSum[S](), row_source.BLOCK_ROWS
        for number, X in enumerate(self.make()):
            first, stop = number * size, number * size + len(X)
            precisions = None if self.precisions is None else self.precisions[first:stop]
            block = RowBlock(first, X, self.t[first:stop], precisions)
            found.add(number, sum_in_order(map(reduction, block.pieces(max_rows))))
        return found.total(len(self.t))

    def every(self) -> RowBlock:
        raise AssertionError("all rows were wanted at once")

    def take_inputs(self, chosen: Indices) -> Array:
        return np.concatenate(list(self.make()))[chosen]

    def with_targets(self, t: Array, precisions: Array | None) -> "GeneratedRows":
        return replace(self, t=t, precisions=precisions)


def generated(X: Array, t: Array) -> GeneratedRows:
    """Rows that come out as copies of those of X (N, d)."""

    def make() -> Iterator[Array]:
        for first in range(0, len(X), row_source.BLOCK_ROWS):
            yield np.array(X[first : first + row_source.BLOCK_ROWS])

    return GeneratedRows(make, X.shape[1], t)
