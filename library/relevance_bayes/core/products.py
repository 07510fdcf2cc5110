"""Products with the columns of all candidates, for which the whole design matrix is seldom needed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from relevance_bayes.core.basis import Functions, GroupFunctions, KernelFunctions
from relevance_bayes.core.types import Array

BLOCK_BYTES = 8 * 2**20
"""Bytes of the columns that are computed at once where they are not kept."""

MIN_ROWS = 100
"""Rows below which the design matrix itself is used."""

ROWS_PER_RANK = 8
"""Rows per rank from which the low-rank factor is used, ..."""

MAX_RANK = 512
"""... and its largest rank."""

RESIDUE = 1e-12
"""The residual that the factor may leave of a kernel whose greatest value is 1."""

MIN_PROGRESS = 0.2
"""At half of the rank the factorisation stops where less than this share of the way to RESIDUE (in logarithms) is
done."""


class Products(Protocol):
    """Sums over N rows for each of M candidates, Phi (N, M) being their columns."""

    def products(self, towards: Array) -> Array:
        """Phi'Y, (M, k), for Y (N, k)."""

    def products_and_norms(self, towards: Array, precision: Array | None = None) -> tuple[Array, Array]:
        """Phi'Y (M, k) and diag(Phi'diag(lam)Phi) (M,), lam (N,) or all 1."""


@dataclass(frozen=True, eq=False)
class Dense:
    """Products by the columns themselves, block by block: kept where `is_kept`, else recomputed."""

    functions: Functions
    X: Array
    is_kept: bool
    _blocks: list[Array] = field(default_factory=list, repr=False)

    def products(self, towards: Array) -> Array:
        return np.concatenate([columns.T @ towards for columns in self.blocks()])

    def products_and_norms(self, towards: Array, precision: Array | None = None) -> tuple[Array, Array]:
        seen = [(columns.T @ towards, _squares(columns, precision)) for columns in self.blocks()]
        return np.concatenate([product for product, _ in seen]), np.concatenate([square for _, square in seen])

    def blocks(self) -> Iterator[Array]:
        """All columns, some at a time: each (N, m)."""
        if self._blocks:
            yield from self._blocks
            return
        widest = max(1, BLOCK_BYTES // (8 * len(self.X)))
        for first in range(0, self.functions.size, widest):
            columns = self.functions(self.X, np.arange(first, min(first + widest, self.functions.size)))
            if self.is_kept:
                self._blocks.append(columns)
            yield columns


def _squares(columns: Array, precision: Array | None) -> Array:
    """diag(Phi'diag(lam)Phi), read in the memory order of the columns."""
    if precision is None:
        return np.asarray(np.einsum("mn,mn->m", columns.T, columns.T))
    return np.square(columns.T) @ precision


@dataclass(frozen=True, eq=False)
class LowRank:
    """Products by a factor of the kernel matrix: Phi = G'H, G (k, N) for the rows and H (k, M) for the candidates."""

    G: Array
    H: Array

    def products(self, towards: Array) -> Array:
        return self.H.T @ (self.G @ towards)

    def products_and_norms(self, towards: Array, precision: Array | None = None) -> tuple[Array, Array]:
        root = self.G if precision is None else self.G * np.sqrt(precision)
        return self.products(towards), np.einsum("km,km->m", self.H, (root @ root.T) @ self.H)


def products_of(functions: Functions, X: Array, *, is_kept: bool) -> Products:
    """The cheapest way for the candidates `functions` at the rows X (N, d)."""
    if isinstance(functions, GroupFunctions):
        return products_of(functions.of, X[:, functions.columns], is_kept=is_kept)
    if (
        isinstance(functions, KernelFunctions)
        and functions.kernel.is_stationary
        and functions.kernel.is_positive_definite
    ):
        found = _low_rank(functions, X)
        if found is not None:
            return found
    return Dense(functions, X, is_kept)


def _low_rank(functions: KernelFunctions, X: Array) -> LowRank | None:
    max_rank = min(len(X) // ROWS_PER_RANK, MAX_RANK)
    if len(X) < MIN_ROWS or not np.array_equal(X[functions.rows], functions.centres):
        return None
    G = incomplete_cholesky(functions, X, max_rank)
    if G is None:
        return None
    every = np.array_equal(functions.rows, np.arange(len(X)))
    return LowRank(G, G if every else np.ascontiguousarray(G[:, functions.rows]))


def incomplete_cholesky(functions: KernelFunctions, X: Array, max_rank: int) -> Array | None:
    """G (k, N) with |K - G'G| at most RESIDUE everywhere, K the stationary kernel of all rows X (N, d) of each other.

    Pivots are the rows of the greatest residual; K is never formed. None where k would exceed `max_rank`. The residual
    of a positive definite kernel has its greatest entry on its diagonal.
    """
    U = functions.input_map(X)
    left = np.ones(len(U))
    G = np.empty((max_rank, len(U)))
    for rank in range(max_rank):
        pivot = int(left.argmax())
        if left[pivot] <= RESIDUE:
            return G[:rank]
        if rank == max_rank // 2 and np.log(left[pivot]) > MIN_PROGRESS * np.log(RESIDUE):
            return None
        row = functions.kernel(U[pivot : pivot + 1], U)[0]
        row -= G[:rank, pivot] @ G[:rank]
        row /= np.sqrt(left[pivot])
        G[rank] = row
        left -= np.square(row)
        left[pivot] = 0.0
    return G if left.max() <= RESIDUE else None
