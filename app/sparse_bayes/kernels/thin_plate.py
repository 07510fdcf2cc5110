"""The thin-plate spline's radial function."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from app.sparse_bayes.kernels.stationary import pull_squares
from app.sparse_bayes.linalg import squared_distances
from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class ThinPlate:
    """k(u, z) = |u - z|^2 log |u - z|, 0 at 0, u = x/r: over two inputs, a thin plate bent by forces at z.

    It grows with the distance, and knows no scale but for a straight part.
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["thin_plate"] = "thin_plate"

    positive_definite: ClassVar[bool] = False
    stationary: ClassVar[bool] = True

    def __call__(self, U: Array, Z: Array) -> Array:
        """k (N, M) of every row of U (N, d) with every row of Z (M, d)."""
        squares = squared_distances(U, Z)
        return np.asarray(0.5 * squares * _logarithm(squares))

    def pull(self, U: Array, Z: Array, D: Array) -> tuple[Array, Array]:
        """With dk/d|u - z|^2 = (log |u - z|^2 + 1)/2: gradients with respect to U (N, d) and Z (M, d) of sum(D o k).

        At distance 0 they are 0, since |u - z| times that slope is.
        """
        squares = squared_distances(U, Z)
        slope = np.where(squares > 0.0, 0.5 * (_logarithm(squares) + 1.0), 0.0)
        return pull_squares(U, Z, D * slope)


def _logarithm(squares: Array) -> Array:
    """0 at 0."""
    return np.log(np.where(squares > 0.0, squares, 1.0))
