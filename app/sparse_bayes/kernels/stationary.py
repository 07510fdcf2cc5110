"""What the stationary kernels share: all that follows from k and its slope as functions of the squared distance."""

from abc import ABC, abstractmethod
from typing import ClassVar, final

import numpy as np

from app.sparse_bayes.linalg import FEW_INPUTS, squared_distances
from app.sparse_bayes.types import Array

NEAR = 1e-6
"""Squared distances below this share of |u|^2 + |z|^2 lose more than ten of their digits to cancellation."""


class Stationary(ABC):
    """k(u, z) = k(|u - z|^2), 1 at distance 0 and falling from there.

    A member gives k and its slope, each for all pairs at once; nothing else of it depends on the member.
    """

    stationary: ClassVar[bool] = True
    positive_definite: ClassVar[bool]

    slope_of_k: ClassVar[bool] = False
    """Whether the slope needs k alone, and no distances."""

    kinked: ClassVar[bool] = False
    """Whether the slope at distance 0 is infinite: such a kernel sees the square root of what cancellation leaves."""

    @abstractmethod
    def of_squares(self, squares: Array) -> Array:
        """k (N, M) at the squared distances (N, M), which it may overwrite."""

    @abstractmethod
    def slope(self, squares: Array, k: Array) -> Array:
        """dk / d|u - z|^2 as a new (N, M), at the squared distances (N, M) where the kernel is k (N, M)."""

    @final
    def __call__(self, U: Array, Z: Array) -> Array:
        """k (N, M) of every row of U (N, d) with every row of Z (M, d)."""
        return self.of_squares(self._squares(U, Z))

    @final
    def pull(self, U: Array, Z: Array, D: Array, k: Array | None = None) -> tuple[Array, Array]:
        """Gradients with respect to U (N, d) and Z (M, d) of sum(D o k(U, Z)), D (N, M); k (N, M) where it is at hand.

        Where U is Z, the gradient is the sum of the two.
        """
        if not len(Z):
            return np.zeros_like(U), np.zeros_like(Z)
        return pull_squares(U, Z, self._weighted(U, Z, D, k))

    @final
    def pull_symmetric(self, U: Array, D: Array, k: Array | None = None) -> Array:
        """The gradient with respect to U (N, d) of sum(D o k(U, U)), D (N, N) symmetric: both parts of `pull`."""
        if not len(U):
            return np.zeros_like(U)
        W = self._weighted(U, U, D, k)
        U = U - U.mean(axis=0)
        dU: Array = 4.0 * (W.sum(axis=1)[:, None] * U - W @ U)
        return dU

    def _weighted(self, U: Array, Z: Array, D: Array, k: Array | None) -> Array:
        if k is not None and self.slope_of_k:
            W = self.slope(k, k)
        else:
            squares = self._squares(U, Z)
            W = self.slope(squares, self.of_squares(squares.copy()) if k is None else k)
        W *= D
        return W

    def _squares(self, U: Array, Z: Array) -> Array:
        squares = squared_distances(U, Z)
        if self.kinked and U.shape[1] > FEW_INPUTS:
            _mend(squares, U, Z)
        return squares


def pull_squares(U: Array, Z: Array, W: Array) -> tuple[Array, Array]:
    """Gradients with respect to U (N, d) and Z (M, d) of a number, from those W (N, M) to their squared distances.

    dU = 2 (diag(W 1) U - W Z) and dZ = 2 (diag(W'1) Z - W'U): only differences count, so both are centred on Z, which
    keeps the subtraction small.
    """
    centre = Z.mean(axis=0)
    U, Z = U - centre, Z - centre
    return 2.0 * (W.sum(axis=1)[:, None] * U - W @ Z), 2.0 * (W.sum(axis=0)[:, None] * Z - W.T @ U)


def _mend(squares: Array, U: Array, Z: Array) -> None:
    """Sum the smallest of the squared distances (N, M) anew, from differences: at one point they are 0 to the bit."""
    centre = Z.mean(axis=0)
    sizes = np.square(U - centre).sum(axis=1)[:, None] + np.square(Z - centre).sum(axis=1)
    n, m = np.nonzero(squares <= NEAR * sizes)
    exact = np.zeros(len(n))
    for u, z in zip(U.T, Z.T, strict=True):
        exact += np.square(u[n] - z[m])
    squares[n, m] = exact
