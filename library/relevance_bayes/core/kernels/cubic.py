"""The cubic radial function."""

from dataclasses import dataclass
from typing import Literal

from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.tracing import A, Namespace


@dataclass(frozen=True)
class Cubic(Radial):
    """k(u, z) = |u - z|^3, u = x/r: over one input, sums of it are cubic splines with knots at z.

    It grows with the distance, and a width only scales it.
    """

    type: Literal["cubic"] = "cubic"

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """s sqrt s."""
        return squares * xp.sqrt(squares)

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """3/2 sqrt s."""
        return 1.5 * xp.sqrt(squares)
