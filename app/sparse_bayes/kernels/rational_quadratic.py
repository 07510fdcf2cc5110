"""The rational quadratic kernel: Gaussians of many widths at once."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from app.sparse_bayes.kernels.stationary import Stationary
from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class RationalQuadratic(Stationary):
    """k(u, z) = (1 + |u - z|^2 / power)^-power, u = x/r [RASMUSSEN2006].

    Power 1 is the Cauchy kernel; as the power grows it becomes the Gaussian. scikit-learn's `RationalQuadratic` is the
    same with alpha = power and length scale r/sqrt 2.
    """

    __pydantic_config__ = {"extra": "forbid"}

    # Beyond these it is a constant, or the Gaussian, and a quotient by the power may overflow.
    power: float = field(default=1.0, metadata={"ge": 1e-3, "le": 1e3, "allow_inf_nan": False})
    type: Literal["rational_quadratic"] = "rational_quadratic"

    positive_definite: ClassVar[bool] = True

    def of_squares(self, squares: Array) -> Array:
        """exp(-power log(1 + s/power)), which keeps its digits where the power is great."""
        k = np.log1p(np.divide(squares, self.power, out=squares), out=squares)
        return np.exp(np.multiply(k, -self.power, out=k), out=k)

    def slope(self, squares: Array, k: Array) -> Array:
        """-k / (1 + s/power)."""
        return -k / (1.0 + squares / self.power)
