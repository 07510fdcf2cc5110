"""The exponential of the distance, whose functions are continuous and no more."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.tracing import A, Namespace

TINY = 1e-300
"""Under the root of a squared distance that is divided by, where that is 0."""


@dataclass(frozen=True)
class Laplacian(Radial):
    """k(u, z) = exp(-|u - z|), u = x/r, with the Euclidean distance: the Matern kernel of order 1/2 and length scale r.

    scikit-learn's `laplacian_kernel` sums absolute differences instead; with one input it is the same, gamma = 1/r.
    """

    type: Literal["laplacian"] = "laplacian"

    positive_definite: ClassVar[bool] = True
    kinked: ClassVar[bool] = True

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """exp(-sqrt s)."""
        return xp.exp(-xp.sqrt(squares))

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """-k / (2 sqrt s), and 0 at s = 0.

        It is infinite there, but is multiplied with u - z = 0: at its kink the kernel has no gradient, and 0 is the
        mean of those on both sides.
        """
        return xp.where(squares > 0.0, -0.5 * k / xp.sqrt(xp.maximum(squares, TINY)), 0.0)
