"""The Gaussian kernel of the papers."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.tracing import A, Namespace
from relevance_bayes.core.types import Array


@dataclass(frozen=True)
class Gaussian(Radial):
    """k(u, z) = exp(-|u - z|^2), u and z already divided by the width r.

    The papers' exp(-|x - z|^2 / r^2) [TIPPING2001, eq. 30]; elsewhere's length scale is r/sqrt 2.
    """

    type: Literal["gaussian"] = "gaussian"

    positive_definite: ClassVar[bool] = True
    slope_of_k: ClassVar[bool] = True

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """exp(-s)."""
        return xp.exp(-squares)

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """-k."""
        return -k

    def evaluated(self, squares: Array) -> Array:
        """In place, in .85 times the time."""
        return np.exp(np.negative(squares, out=squares), out=squares)
