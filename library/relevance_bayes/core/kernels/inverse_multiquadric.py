"""The inverse multiquadric kernel: smooth, with the heaviest tails."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.tracing import A, Namespace


@dataclass(frozen=True)
class InverseMultiquadric(Radial):
    """k(u, z) = 1 / sqrt(1 + |u - z|^2), u = x/r: it falls as 1/|u - z|, so that points far apart still count.

    The rational quadratic of power 1/2 and width sqrt 2 r; scipy's `RBFInterpolator` has it with epsilon = 1/r.
    """

    type: Literal["inverse_multiquadric"] = "inverse_multiquadric"

    positive_definite: ClassVar[bool] = True
    slope_of_k: ClassVar[bool] = True

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """1 / sqrt(1 + s)."""
        return 1.0 / xp.sqrt(1.0 + squares)

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """-k^3/2."""
        return -0.5 * k * xp.square(k)
