"""The Cauchy kernel: smooth, with heavy tails."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from app.sparse_bayes.kernels.stationary import Stationary
from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class Cauchy(Stationary):
    """k(u, z) = 1 / (1 + |u - z|^2), u = x/r: the rational quadratic of power 1."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["cauchy"] = "cauchy"

    positive_definite: ClassVar[bool] = True

    def of_squares(self, squares: Array) -> Array:
        """1 / (1 + s)."""
        return np.reciprocal(np.add(squares, 1.0, out=squares), out=squares)

    def slope(self, squares: Array, k: Array) -> Array:
        """-k^2."""
        return -np.square(k)
