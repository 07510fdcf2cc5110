"""The Matern kernel whose functions have two derivatives."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from app.sparse_bayes.kernels.stationary import Stationary
from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class Matern52(Stationary):
    """k(u, z) = (1 + a + a^2/3) exp(-a), a = sqrt(5) |u - z|, u = x/r [RASMUSSEN2006].

    The width r is elsewhere's length scale itself, without the Gaussian kernel's factor sqrt 2.
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["matern_5_2"] = "matern_5_2"

    positive_definite: ClassVar[bool] = True

    def of_squares(self, squares: Array) -> Array:
        """(1 + a + a^2/3) exp(-a), a = sqrt(5 s)."""
        a = np.sqrt(5.0 * squares)
        k = np.exp(-a)
        squares *= 5.0 / 3.0
        squares += a
        squares += 1.0
        k *= squares
        return k

    def slope(self, squares: Array, k: Array) -> Array:
        """-5/6 (1 + a) exp(-a) = -5/6 k (1 + a) / (1 + a + a^2/3)."""
        a = np.sqrt(5.0 * squares)
        return -5.0 / 6.0 * k * (1.0 + a) / (1.0 + a + 5.0 / 3.0 * squares)
