"""Rows, candidates and likelihood of one fit; rows are met only through blocks and one reduce."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.sparse_bayes.basis import Candidates
from app.sparse_bayes.errors import DataError
from app.sparse_bayes.likelihoods import Likelihood
from app.sparse_bayes.priors import Prior
from app.sparse_bayes.products import Products, products_of
from app.sparse_bayes.scales import Learning
from app.sparse_bayes.types import Array

KEPT_BYTES = 256 * 2**20
"""Columns of all candidates are computed once and kept while they need no more than this; else anew for each look."""


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Some rows: X (n, d) and t (n,)."""

    X: Array
    t: Array


@dataclass(frozen=True, eq=False)
class Problem:
    """What an algorithm works on. X (N, d) and t (N,) are finite.

    t are the likelihood's `working` targets: classes are 0.0 and 1.0, positive targets their logarithms. The evidence
    of the targets as they came is that of t and `log_jacobian`.
    """

    X: Array
    t: Array
    candidates: Candidates
    likelihood: Likelihood
    prior: Prior
    learning: Learning = Learning()
    seed: int = 0
    kept_bytes: int = KEPT_BYTES
    log_jacobian: float = 0.0

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

    def products(self, towards: Array) -> Array:
        """Phi'Y (M, k) of all candidates with Y (N, k)."""
        return np.concatenate([dictionary.products(towards) for dictionary in self._dictionaries])

    def look(self, towards: Array, precision: Array | None = None) -> tuple[Array, Array]:
        """Phi'Y (M, k) and diag(Phi'diag(lam)Phi) (M,) of all candidates; lam (N,), or all 1."""
        seen = [dictionary.look(towards, precision) for dictionary in self._dictionaries]
        return np.concatenate([product for product, _ in seen]), np.concatenate([square for _, square in seen])

    @cached_property
    def _dictionaries(self) -> tuple[Products, ...]:
        kept = self.rows * self.candidates.size * 8 <= self.kept_bytes
        return tuple(products_of(functions, self.X, kept=kept) for functions in self.candidates.dictionaries)


def check_rows(X: Array, t: Array) -> None:
    """Raise DataError unless X (N, d) and t (N,) go together, are finite and have at least two rows."""
    if X.ndim != 2 or t.ndim != 1 or len(X) != len(t):
        raise DataError(f"expected X (N, d) and t (N,), got shapes {X.shape} and {t.shape}")
    if len(t) < 2:
        raise DataError(f"expected at least two rows, got {len(t)}")
    if not (np.isfinite(X).all() and np.isfinite(t).all()):
        raise DataError("expected finite numbers in X and t, got NaN or infinity")
