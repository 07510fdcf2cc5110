"""The exponential of the sum of absolute differences: corners and steps along the axes, as trees make them."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from relevance_bayes.core.kernels.by_input import ByInput
from relevance_bayes.core.tracing import A, Namespace


@dataclass(frozen=True)
class CityBlock(ByInput):
    """k(u, z) = exp(-sum_k |u_k - z_k|), u = x/r: a product over inputs of Matern kernels of order 1/2.

    scikit-learn's `laplacian_kernel`, with gamma = 1/r where all inputs have one width. A sum of d distances grows as d
    where the Euclidean distance grows as its root: the same reach needs widths greater by the root of d.
    """

    type: Literal["city_block"] = "city_block"

    positive_definite: ClassVar[bool] = True
    stationary: ClassVar[bool] = True
    sums_distances: ClassVar[bool] = True
    slope_of_k: ClassVar[bool] = True

    def term(self, xp: Namespace[A], u: A, z: A) -> A:
        """|u - z|."""
        return xp.abs(u - z)

    def term_slope(self, xp: Namespace[A], u: A, z: A) -> A:
        """sign(u - z); at the kink, where both are equal, 0: the mean of the slopes on both sides."""
        return xp.sign(u - z)

    def of_terms(self, xp: Namespace[A], terms: A) -> A:
        """exp(-sum)."""
        return xp.exp(-terms)

    def slope(self, xp: Namespace[A], terms: A, k: A) -> A:
        """-k."""
        return -k
