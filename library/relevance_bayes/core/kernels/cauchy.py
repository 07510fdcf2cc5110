"""The Cauchy kernel: smooth, with heavy tails."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.tracing import A, Namespace


@dataclass(frozen=True)
class Cauchy(Radial):
    """k(u, z) = 1 / (1 + |u - z|^2), u = x/r: the rational quadratic of power 1."""

    type: Literal["cauchy"] = "cauchy"

    positive_definite: ClassVar[bool] = True
    slope_of_k: ClassVar[bool] = True

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """1 / (1 + s)."""
        return 1.0 / (1.0 + squares)

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """-k^2."""
        return -xp.square(k)
