"""The rational quadratic kernel: Gaussians of many widths at once."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.tracing import A, Namespace


@dataclass(frozen=True)
class RationalQuadratic(Radial):
    """k(u, z) = (1 + |u - z|^2 / power)^-power, u = x/r [RASMUSSEN2006].

    Power 1 is the Cauchy kernel; as the power grows it becomes the Gaussian. scikit-learn's `RationalQuadratic` is the
    same with alpha = power and length scale r/sqrt 2.
    """

    # Beyond these it is a constant, or the Gaussian, and a quotient by the power may overflow.
    power: float = field(default=1.0, metadata={"ge": 1e-3, "le": 1e3, "allow_inf_nan": False})
    type: Literal["rational_quadratic"] = "rational_quadratic"

    positive_definite: ClassVar[bool] = True

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """exp(-power log(1 + s/power)), which keeps its digits where the power is great."""
        return xp.exp(-self.power * xp.log1p(squares / self.power))

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """-k / (1 + s/power)."""
        return -k / (1.0 + squares / self.power)
