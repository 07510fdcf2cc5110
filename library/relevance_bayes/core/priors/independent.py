"""One hyperparameter a weight: the prior of the relevance vector machine."""

from dataclasses import dataclass, field
from math import lgamma, log
from typing import ClassVar, Literal

import numpy as np

from relevance_bayes.core.types import Array


@dataclass(frozen=True)
class Independent:
    """w_m ~ N(0, 1/alpha_m), each alpha_m learned: A = diag(alpha) and no residual variance, c = 0 [TIPPING2001, eq.
    5].

    `price`: the R functions in the model were chosen among M candidates, p(S | R) = 1/C(M, R), the price of choice
    [THEORY 7]. `a`, `b` are shape and rate of a Gamma on each alpha, `c`, `d` of one on the noise precision;
    all zero: uniform over a log scale [TIPPING2001, eqs 6 and 7]. The rates b and d have the unit of the
    target's square, the inverse of a precision's.
    """

    __pydantic_config__ = {"extra": "forbid"}

    price: bool = False
    a: float = field(default=0.0, metadata={"ge": 0, "allow_inf_nan": False})
    b: float = field(default=0.0, metadata={"ge": 0, "allow_inf_nan": False})
    c: float = field(default=0.0, metadata={"ge": 0, "allow_inf_nan": False})
    d: float = field(default=0.0, metadata={"ge": 0, "allow_inf_nan": False})
    type: Literal["independent"] = "independent"

    rho: ClassVar[float] = 0.0
    centred: ClassVar[bool] = False
    """The weights' priors are centred at 0."""

    def log_hyperprior(self, alpha: Array, beta: float) -> float:
        """sum_m (a log alpha_m - b alpha_m) + c log beta - d beta, over log scales and without normalisers, in nats.

        alpha (R,) are those of the functions in the model [THEORY 2].
        """
        of_alpha = self.a * float(np.log(alpha).sum()) - self.b * float(alpha.sum())
        return of_alpha + self.c * float(np.log(beta)) - self.d * beta

    def log_density(self, alpha: Array, beta: float) -> float:
        """The same with the normalisers a log b - log Gamma(a) of each alpha and c log d - log Gamma(c), in nats.

        The log densities of log alpha and log beta, which don't depend on units; of an improper hyperprior, whose shape
        or rate is 0, there is no normaliser.
        """
        normalisers = len(alpha) * _log_normaliser(self.a, self.b) + _log_normaliser(self.c, self.d)
        return self.log_hyperprior(alpha, beta) + normalisers


def _log_normaliser(shape: float, rate: float) -> float:
    return shape * log(rate) - lgamma(shape) if shape > 0.0 and rate > 0.0 else 0.0
