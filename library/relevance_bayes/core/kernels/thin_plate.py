"""The thin-plate spline's radial function."""

from dataclasses import dataclass
from typing import Literal

from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.tracing import A, Namespace


@dataclass(frozen=True)
class ThinPlate(Radial):
    """k(u, z) = |u - z|^2 log |u - z|, 0 at 0, u = x/r: over two inputs, a thin plate bent by forces at z.

    It grows with the distance, and knows no scale but for a straight part.
    """

    type: Literal["thin_plate"] = "thin_plate"

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """1/2 s log s, 0 at 0."""
        return 0.5 * squares * xp.log(xp.where(squares > 0.0, squares, 1.0))

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """1/2 (log s + 1), and 0 at s = 0, where |u - z| times it is 0."""
        return xp.where(squares > 0.0, 0.5 * (xp.log(xp.where(squares > 0.0, squares, 1.0)) + 1.0), 0.0)
