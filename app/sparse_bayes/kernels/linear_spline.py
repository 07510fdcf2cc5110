"""The linear spline kernel of the papers."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class LinearSpline:
    """The product over inputs of 1 + uz + uz min(u, z) - (u + z)/2 min(u, z)^2 + min(u, z)^3/3 [TIPPING2001, 4.1].

    It knows no unit: a width other than 1 only divides the inputs. The covariance of an integrated random walk that
    starts at 0, and so positive definite for inputs from there on; for negative ones k(u, u) itself can be negative.
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["linear_spline"] = "linear_spline"

    positive_definite: ClassVar[bool] = False
    stationary: ClassVar[bool] = False
    differentiable: ClassVar[bool] = False

    def __call__(self, U: Array, Z: Array) -> Array:
        """k (N, M) of every row of U (N, d) with every row of Z (M, d)."""
        product = np.ones((len(U), len(Z)))
        for k in range(U.shape[1]):
            u, z = U[:, k, None], Z[None, :, k]
            least = np.minimum(u, z)
            product *= 1.0 + u * z + least * (u * z - least * ((u + z) / 2.0 - least / 3.0))
        return product
