"""The Matern kernel whose functions have two derivatives."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.tracing import A, Namespace


@dataclass(frozen=True)
class Matern52(Radial):
    """k(u, z) = (1 + a + a^2/3) exp(-a), a = sqrt(5) |u - z|, u = x/r [RASMUSSEN2006].

    The width r is elsewhere's length scale itself, without the Gaussian kernel's factor sqrt 2.
    """

    type: Literal["matern_5_2"] = "matern_5_2"

    positive_definite: ClassVar[bool] = True

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """(1 + a + a^2/3) exp(-a), a = sqrt(5 s)."""
        a = xp.sqrt(5.0 * squares)
        return (1.0 + a + 5.0 / 3.0 * squares) * xp.exp(-a)

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """-5/6 (1 + a) exp(-a)."""
        a = xp.sqrt(5.0 * squares)
        return -5.0 / 6.0 * (1.0 + a) * xp.exp(-a)
