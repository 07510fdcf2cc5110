"""The exponential of the sum of absolute differences: corners and steps along the axes, as trees make them."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class CityBlock:
    """k(u, z) = exp(-sum_k |u_k - z_k|), u = x/r: a product over inputs of Matern kernels of order 1/2.

    scikit-learn's `laplacian_kernel`, with gamma = 1/r where all inputs have one width. A sum of d distances grows as d
    where the Euclidean distance grows as its root: the same reach needs widths greater by the root of d.
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["city_block"] = "city_block"

    positive_definite: ClassVar[bool] = True
    stationary: ClassVar[bool] = True

    def __call__(self, U: Array, Z: Array) -> Array:
        """k (N, M) of every row of U (N, d) with every row of Z (M, d)."""
        total = np.zeros((len(U), len(Z)))
        for u, z in zip(U.T, Z.T, strict=True):
            apart = np.subtract.outer(u, z)
            total -= np.abs(apart, out=apart)
        return np.exp(total, out=total)

    def pull(self, U: Array, Z: Array, D: Array, k: Array | None = None) -> tuple[Array, Array]:
        """Gradients with respect to U (N, d) and Z (M, d) of sum(D o k(U, Z)), D (N, M); k (N, M) where it is at hand.

        With W = D o k: dU_nk = -sum_m W_nm sign(u_nk - z_mk), dZ_mk = sum_n of the same. At the kink, where two
        coordinates are equal, the sign is 0: the mean of the slopes on both sides.
        """
        W = D * (self(U, Z) if k is None else k)
        dU, dZ = np.empty_like(U), np.empty_like(Z)
        for place, (u, z) in enumerate(zip(U.T, Z.T, strict=True)):
            signs = np.sign(np.subtract.outer(u, z))
            signs *= W
            dU[:, place], dZ[:, place] = -signs.sum(axis=1), signs.sum(axis=0)
        return dU, dZ

    def pull_symmetric(self, U: Array, D: Array, k: Array | None = None) -> Array:
        """The gradient with respect to U (N, d) of sum(D o k(U, U)), D (N, N) symmetric: both parts of `pull`."""
        dU, _ = self.pull(U, U, D, k)
        return 2.0 * dU
