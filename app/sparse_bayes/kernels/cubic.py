"""The cubic radial function."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from app.sparse_bayes.kernels.stationary import pull_squares
from app.sparse_bayes.linalg import squared_distances
from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class Cubic:
    """k(u, z) = |u - z|^3, u = x/r: over one input, sums of it are cubic splines with knots at z.

    It grows with the distance, and a width only scales it.
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["cubic"] = "cubic"

    positive_definite: ClassVar[bool] = False
    stationary: ClassVar[bool] = True

    def __call__(self, U: Array, Z: Array) -> Array:
        """k (N, M) of every row of U (N, d) with every row of Z (M, d)."""
        squares = squared_distances(U, Z)
        return np.asarray(squares * np.sqrt(squares))

    def pull(self, U: Array, Z: Array, D: Array) -> tuple[Array, Array]:
        """With dk/d|u - z|^2 = 3/2 |u - z|: the gradients with respect to U (N, d) and Z (M, d) of sum(D o k)."""
        return pull_squares(U, Z, D * (1.5 * np.sqrt(squared_distances(U, Z))))
