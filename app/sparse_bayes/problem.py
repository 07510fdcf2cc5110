"""Rows, candidates and likelihood of one fit; rows are met only through blocks and one reduce."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from app.sparse_bayes.basis import Candidates
from app.sparse_bayes.errors import DataError
from app.sparse_bayes.likelihoods import Likelihood
from app.sparse_bayes.priors import Prior
from app.sparse_bayes.types import Array

KEPT_BYTES = 256 * 2**20
"""Columns of all candidates are computed once and kept while they need no more than this; else anew for each look."""

BLOCK_BYTES = 8 * 2**20
"""Columns that are not kept are computed so many bytes at a time."""

S = TypeVar("S", bound="Array | tuple[Array, ...]")


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Some rows: X (n, d) and t (n,)."""

    X: Array
    t: Array


@dataclass(frozen=True, eq=False)
class Problem:
    """What an algorithm works on. X (N, d) and t (N,) are finite; classes are 0.0 and 1.0."""

    X: Array
    t: Array
    candidates: Candidates
    likelihood: Likelihood
    prior: Prior
    kept_bytes: int = KEPT_BYTES
    _kept: dict[tuple[int, int], Array] = field(default_factory=dict, repr=False)

    @property
    def rows(self) -> int:
        """N."""
        return len(self.t)

    def blocks(self) -> Iterator[RowBlock]:
        """All rows, in their order; in memory they are one block."""
        yield RowBlock(self.X, self.t)

    def columns(self, chosen: tuple[int, ...]) -> Array:
        """The chosen candidates at all rows: (N, R)."""
        return np.vstack([self.candidates.columns(block.X, chosen) for block in self.blocks()])

    def look(self, summarise: Callable[[Array], tuple[Array, ...]]) -> tuple[Array, ...]:
        """Sums over rows for every candidate: `summarise` maps columns (N, m) to arrays whose first axis is m.

        The answers' is M.
        """
        parts = [summarise(self._range(first, stop)) for first, stop in self._ranges()]
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))

    def _ranges(self) -> list[tuple[int, int]]:
        return self.candidates.slices(max(1, BLOCK_BYTES // (8 * self.rows)))

    def _range(self, first: int, stop: int) -> Array:
        kept = self._kept.get((first, stop))
        if kept is not None:
            return kept
        columns = self.candidates.range(self.X, first, stop)
        if self.rows * self.candidates.size * 8 <= self.kept_bytes:
            self._kept[first, stop] = columns
        return columns


def check_rows(X: Array, t: Array) -> None:
    """Raise DataError unless X (N, d) and t (N,) go together, are finite and have at least two rows."""
    if X.ndim != 2 or t.ndim != 1 or len(X) != len(t):
        raise DataError(f"expected X (N, d) and t (N,), got shapes {X.shape} and {t.shape}")
    if len(t) < 2:
        raise DataError(f"expected at least two rows, got {len(t)}")
    if not (np.isfinite(X).all() and np.isfinite(t).all()):
        raise DataError("expected finite numbers in X and t, got NaN or infinity")
