"""The Matern kernel whose functions have one derivative."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from app.sparse_bayes.kernels.stationary import Stationary
from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class Matern32(Stationary):
    """k(u, z) = (1 + a) exp(-a), a = sqrt(3) |u - z|, u = x/r [RASMUSSEN2006].

    The width r is elsewhere's length scale itself, without the Gaussian kernel's factor sqrt 2.
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["matern_3_2"] = "matern_3_2"

    positive_definite: ClassVar[bool] = True

    def of_squares(self, squares: Array) -> Array:
        """(1 + a) exp(-a), a = sqrt(3 s)."""
        a = np.sqrt(np.multiply(squares, 3.0, out=squares), out=squares)
        k = np.exp(-a)
        k *= np.add(a, 1.0, out=a)
        return k

    def slope(self, squares: Array, k: Array) -> Array:
        """-3/2 exp(-a) = -3/2 k / (1 + a)."""
        return -1.5 * k / (1.0 + np.sqrt(3.0 * squares))
