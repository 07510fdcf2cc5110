"""Samples of the rows: those of the smallest content keys, independent of the order of the rows."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.core.folds import content_keys
from relevance_bayes.core.row_source import RowBlock, RowSource
from relevance_bayes.core.types import Array, Indices

MIN_SAMPLE = 8_192
"""Rows drawn in one pass: smaller samples are part of them, without another pass."""


@dataclass(frozen=True, eq=False)
class KeyedRows:
    """At most `size` rows, those of the smallest `keys` (k,), in their order; of equal keys the earlier row is first.

    `numbers` (k,) are the rows' among all rows, and X (k, d) their inputs. A sum has the smallest keys of both parts.
    """

    size: int
    keys: NDArray[np.uint64]
    numbers: Indices
    X: Array

    def __add__(self, other: Self, /) -> "KeyedRows":
        keys = np.concatenate([self.keys, other.keys])
        order = np.argsort(keys, kind="stable")[: self.size]
        numbers, X = np.concatenate([self.numbers, other.numbers]), np.concatenate([self.X, other.X])
        return KeyedRows(self.size, keys[order], numbers[order], X[order])


@dataclass(frozen=True)
class SmallestKeys:
    """The reduction to the `size` rows of the smallest keys: of inputs and targets together, and a `seed`."""

    size: int
    seed: int

    def __call__(self, block: RowBlock, /) -> KeyedRows:
        keys = content_keys(block.X, self.seed, block.t)
        order = np.argsort(keys, kind="stable")[: self.size]
        return KeyedRows(self.size, keys[order], block.first + order, block.X[order])


@dataclass(frozen=True, eq=False)
class Sample:
    """Some of the rows, in their order: `numbers` (k,) and inputs X (k, d)."""

    numbers: Indices
    X: Array


class Sampler:
    """Samples of the rows of a source, drawn by content and a seed: each is part of every greater one."""

    def __init__(self, source: RowSource, seed: int) -> None:
        self._source, self._seed = source, seed
        self._found: KeyedRows | None = None

    def sample(self, size: int) -> Sample:
        """At most so many rows; all of them where they are no more."""
        rows = len(self._source.t)
        if rows <= size:
            return Sample(np.arange(rows), np.ascontiguousarray(self._source.every().X))
        found = self._smallest(size)
        order = np.argsort(found.numbers[:size])
        return Sample(found.numbers[order], found.X[order])

    def _smallest(self, size: int) -> KeyedRows:
        if self._found is None or self._found.size < size:
            self._found = self._source.reduce(SmallestKeys(max(size, MIN_SAMPLE), self._seed))
        return self._found
