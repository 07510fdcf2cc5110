"""The linear spline kernel of the papers."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from relevance_bayes.core.kernels.by_input import ByInput
from relevance_bayes.core.tracing import A, Namespace


@dataclass(frozen=True)
class LinearSpline(ByInput):
    """The product over inputs of 1 + uz + uz min(u, z) - (u + z)/2 min(u, z)^2 + min(u, z)^3/3 [TIPPING2001, 4.1].

    It knows no unit: a width other than 1 only divides the inputs. The covariance of an integrated random walk that
    starts at 0, and so positive definite for inputs from there on; for negative ones k(u, u) itself can be negative.
    """

    type: Literal["linear_spline"] = "linear_spline"

    combination: ClassVar[Literal["sum", "product"]] = "product"

    def term(self, xp: Namespace[A], u: A, z: A) -> A:
        """1 + uz + l (uz - l ((u + z)/2 - l/3)), l = min(u, z)."""
        smaller, both = xp.minimum(u, z), u * z
        return 1.0 + both + smaller * (both - smaller * (0.5 * (u + z) - smaller / 3.0))

    def term_slope(self, xp: Namespace[A], u: A, z: A) -> A:
        """z + uz - u^2/2 in u up to z, z + z^2/2 beyond."""
        smaller = xp.minimum(u, z)
        return z + smaller * (z - 0.5 * smaller)
