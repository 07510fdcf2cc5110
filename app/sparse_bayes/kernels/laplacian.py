"""The exponential of the distance, whose functions are continuous and no more."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from app.sparse_bayes.kernels.stationary import Stationary
from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class Laplacian(Stationary):
    """k(u, z) = exp(-|u - z|), u = x/r, with the Euclidean distance: the Matern kernel of order 1/2 and length scale r.

    scikit-learn's `laplacian_kernel` sums absolute differences instead; with one input it is the same, gamma = 1/r.
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["laplacian"] = "laplacian"

    positive_definite: ClassVar[bool] = True
    kinked: ClassVar[bool] = True

    def of_squares(self, squares: Array) -> Array:
        """exp(-sqrt s)."""
        distances = np.sqrt(squares, out=squares)
        return np.exp(np.negative(distances, out=distances), out=distances)

    def slope(self, squares: Array, k: Array) -> Array:
        """-k / (2 sqrt s), and 0 at s = 0.

        It is infinite there, but is multiplied with u - z = 0: at its kink the kernel has no gradient, and 0 is the
        mean of those on both sides.
        """
        distances = np.sqrt(squares)
        return np.divide(-0.5 * k, distances, out=np.zeros_like(k), where=distances > 0.0)
