"""The Gaussian kernel of the papers."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from app.sparse_bayes.linalg import squared_distances
from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class Gaussian:
    """k(u, z) = exp(-|u - z|^2), u and z already divided by the width r.

    The papers' exp(-|x - z|^2 / r^2) [TIPPING2001, eq. 30].
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["gaussian"] = "gaussian"

    positive_definite: ClassVar[bool] = True
    stationary: ClassVar[bool] = True

    def __call__(self, U: Array, Z: Array) -> Array:
        """k (N, M) of every row of U (N, d) with every row of Z (M, d)."""
        exponent = squared_distances(U, Z)
        return np.exp(np.negative(exponent, out=exponent), out=exponent)
