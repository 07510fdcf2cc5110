"""The Matern kernel whose functions have one derivative."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.tracing import A, Namespace


@dataclass(frozen=True)
class Matern32(Radial):
    """k(u, z) = (1 + a) exp(-a), a = sqrt(3) |u - z|, u = x/r [RASMUSSEN2006].

    The width r is elsewhere's length scale itself, without the Gaussian kernel's factor sqrt 2.
    """

    type: Literal["matern_3_2"] = "matern_3_2"

    positive_definite: ClassVar[bool] = True

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """(1 + a) exp(-a), a = sqrt(3 s)."""
        a = xp.sqrt(3.0 * squares)
        return (1.0 + a) * xp.exp(-a)

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """-3/2 exp(-a)."""
        return -1.5 * xp.exp(-xp.sqrt(3.0 * squares))
