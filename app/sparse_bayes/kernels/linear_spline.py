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

    def __call__(self, U: Array, Z: Array) -> Array:
        """k (N, M) of every row of U (N, d) with every row of Z (M, d)."""
        product = np.ones((len(U), len(Z)))
        for k in range(U.shape[1]):
            product *= _one_input(U[:, k, None], Z[None, :, k])
        return product

    def pull(self, U: Array, Z: Array, D: Array) -> tuple[Array, Array]:
        """The gradients with respect to U (N, d) and Z (M, d) of sum(D o k(U, Z)), D (N, M).

        Of one factor z + uz - u^2/2 in u up to z, z + z^2/2 beyond; the others are products from both sides, since a
        factor may be 0.
        """
        inputs = range(U.shape[1])
        factors = [_one_input(U[:, k, None], Z[None, :, k]) for k in inputs]
        after = [D]
        for factor in reversed(factors[1:]):
            after.append(after[-1] * factor)
        dU, dZ, before = np.empty_like(U), np.empty_like(Z), np.ones_like(D)
        for k in inputs:
            u, z = U[:, k, None], Z[None, :, k]
            others = before * after.pop()
            dU[:, k] = (others * _slope(u, z)).sum(axis=1)
            dZ[:, k] = (others * _slope(z, u)).sum(axis=0)
            before = before * factors[k]
        return dU, dZ


def _one_input(u: Array, z: Array) -> Array:
    least = np.minimum(u, z)
    return 1.0 + u * z + least * (u * z - least * ((u + z) / 2.0 - least / 3.0))


def _slope(u: Array, z: Array) -> Array:
    """d/du of one factor."""
    least = np.minimum(u, z)
    return z + least * (z - 0.5 * least)
