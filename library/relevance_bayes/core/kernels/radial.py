"""Kernels that are a function of the squared distance."""

from abc import abstractmethod
from typing import ClassVar, final

import numpy as np

from relevance_bayes.core.kernels.base import BLOCK, KernelBase, evaluated
from relevance_bayes.core.linalg import FEW_INPUTS, squared_distances
from relevance_bayes.core.tracing import A, Namespace
from relevance_bayes.core.types import Array

NEAR = 1e-6
"""Squared distances below this share of |u|^2 + |z|^2 lose more than ten of their digits to cancellation."""


class Radial(KernelBase):
    """k(u, z) = k(|u - z|^2).

    A member gives k and its slope as functions of the squared distances; nothing else of it depends on the member.
    """

    stationary: ClassVar[bool] = True

    slope_of_k: ClassVar[bool] = False
    """True where the slope needs k alone, and no distances: it is handed k for both."""

    kinked: ClassVar[bool] = False
    """True where the slope at distance 0 is infinite: such a kernel sees the square root of what cancellation
    leaves."""

    @abstractmethod
    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """k at squared distances."""

    @abstractmethod
    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """dk / d|u - z|^2 at squared distances, where the kernel is k."""

    @final
    def __call__(self, U: Array, Z: Array) -> Array:
        return self.evaluated(self._squares(U, Z))

    def evaluated(self, squares: Array) -> Array:
        """`of_squares` by numpy, which may overwrite them: a member that can do it with fewer passes overrides it."""
        return evaluated(self.of_squares, squares)

    @final
    def slopes(self, squares: Array, k: Array | None = None) -> Array:
        """dk / d|u - z|^2 at squared distances of any shape, which may be overwritten; k is the kernel there."""
        if k is not None and self.slope_of_k:
            return self.slope(np, k, k)
        flat, known = squares.reshape(-1), None if k is None else np.ascontiguousarray(k).reshape(-1)
        for first in range(0, flat.size, BLOCK):
            block = flat[first : first + BLOCK]
            there = self.of_squares(np, block) if known is None else known[first : first + BLOCK]
            block[:] = self.slope(np, block, there)
        return squares

    @final
    def pull(self, U: Array, Z: Array, D: Array, k: Array | None = None) -> tuple[Array, Array]:
        """dU = 2 (diag(W 1) U - W Z) and dZ = 2 (diag(W'1) Z - W'U), W = D o slope.

        Only differences count, so both are centred on Z, which keeps the subtraction small.
        """
        if not len(Z):
            return np.zeros_like(U), np.zeros_like(Z)
        W = self._weighted(U, Z, D, k)
        centre = Z.mean(axis=0)
        U, Z = U - centre, Z - centre
        return 2.0 * (W.sum(axis=1)[:, None] * U - W @ Z), 2.0 * (W.sum(axis=0)[:, None] * Z - W.T @ U)

    @final
    def pull_symmetric(self, U: Array, D: Array, k: Array | None = None) -> Array:
        if not len(U):
            return np.zeros_like(U)
        W = self._weighted(U, U, D, k)
        U = U - U.mean(axis=0)
        dU: Array = 4.0 * (W.sum(axis=1)[:, None] * U - W @ U)
        return dU

    def _weighted(self, U: Array, Z: Array, D: Array, k: Array | None) -> Array:
        """D o slope, (N, M)."""
        if k is not None and self.slope_of_k:
            return np.asarray(self.slope(np, k, k) * D)
        W = self.slopes(self._squares(U, Z), k)
        W *= D
        return W

    def _squares(self, U: Array, Z: Array) -> Array:
        squares = squared_distances(U, Z)
        if self.kinked and U.shape[1] > FEW_INPUTS:
            _mend(squares, U, Z)
        return squares


def _mend(squares: Array, U: Array, Z: Array) -> None:
    """Sum the smallest of the squared distances (N, M) anew, from differences: at one point they are 0 to the bit."""
    centre = Z.mean(axis=0)
    sizes = np.square(U - centre).sum(axis=1)[:, None] + np.square(Z - centre).sum(axis=1)
    n, m = np.nonzero(squares <= NEAR * sizes)
    exact = np.zeros(len(n))
    for u, z in zip(U.T, Z.T, strict=True):
        exact += np.square(u[n] - z[m])
    squares[n, m] = exact
