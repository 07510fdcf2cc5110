"""The Gaussian kernel of the papers."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from app.sparse_bayes.kernels.stationary import Stationary
from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class Gaussian(Stationary):
    """k(u, z) = exp(-|u - z|^2), u and z already divided by the width r.

    The papers' exp(-|x - z|^2 / r^2) [TIPPING2001, eq. 30]; elsewhere's length scale is r/sqrt 2.
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["gaussian"] = "gaussian"

    positive_definite: ClassVar[bool] = True
    slope_of_k: ClassVar[bool] = True

    def of_squares(self, squares: Array) -> Array:
        """exp(-s)."""
        return np.exp(np.negative(squares, out=squares), out=squares)

    def slope(self, squares: Array, k: Array) -> Array:
        """-k."""
        return -k
