"""Priors of the weights."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import lgamma, log
from typing import ClassVar, Literal

import numpy as np

from relevance_bayes.core.linalg import cholesky, inverse_of_lower, times_lower, times_lower_transposed
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


JITTER = 1e-5
"""Added to the diagonal of the inducing points' kernel matrix; less converges badly at low noise, more costs
accuracy."""


@dataclass(frozen=True)
class GaussianProcess:
    """w ~ N(0, s E_mm^-1) on the functions k(., z_m): inducing functions of the process, and c its residual variance.

    `inducing_points`: the z are training rows, or are optimised from there. A function enters while it gains
    `min_gain` nats (None: the likelihood's), at most `max_functions` of them (None: 512). With the trace term
    in L this is the variational sparse process [TITSIAS2009; THEORY 9]. The share `rho` of the residual variance is
    noise of each row instead, for Gaussian noise only: power EP [BUI2017]; the functions are chosen as with rho of 0.
    """

    __pydantic_config__ = {"extra": "forbid"}

    inducing_points: Literal["rows", "optimised"] = "optimised"
    min_gain: float | None = field(default=None, metadata={"gt": 0, "allow_inf_nan": False})
    max_functions: int | None = field(default=None, metadata={"ge": 1, "le": 2048})
    rho: float = field(default=0.0, metadata={"ge": 0, "le": 1, "allow_inf_nan": False})
    type: Literal["gaussian_process"] = "gaussian_process"

    centred: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class Whitening:
    """From the columns E (N, m) of the functions to columns B = E L^-T whose weights are independent, L L' = E_mm.

    E_mm (m, m) is the kernel of the vectors, with JITTER. Under N(0, s E_mm^-1) the weights of B have the one
    precision 1/s, and the residual variance of row n is c_n = s (1 - |b_n|^2).

    Rows are multiplied by L^-1. With JITTER, L has a condition of at most sqrt(m / JITTER), some 7,000 for 512 vectors,
    and B is as accurate as by a triangular solution: to 1e-13, less than the effect of the rounding of L.
    """

    lower: Array

    @cached_property
    def inverse(self) -> Array:
        """L^-1 (m, m), lower triangular."""
        return inverse_of_lower(self.lower)

    @classmethod
    def of(
        cls, kernel: Array, factorise: Callable[[Array], Array] = cholesky, *, jitter: float | None = None
    ) -> "Whitening":
        """The whitening of the kernel matrix (m, m) of the inducing points; raises NotPositiveDefiniteError."""
        return cls(factorise(kernel + (JITTER if jitter is None else jitter) * np.eye(len(kernel))))

    def columns(self, E: Array, out: Array | None = None) -> Array:
        """B = E L^-T, (N, m), into `out` where it is given."""
        return times_lower_transposed(E, self.inverse, out)

    def weights(self, whitened: Array) -> Array:
        """Weights of E from those of B: L^-T w, for (m,) or (m, k)."""
        return self.inverse.T @ whitened

    def left(self, B: Array) -> Array:
        """1 - |b_n|^2, (N,): the residual share of the prior variance."""
        return np.asarray(np.maximum(1.0 - np.vecdot(B, B), 0.0))

    def pull_columns(self, D: Array) -> Array:
        """dL/dE = D L^-1, (N, m), from D = dL/dB (N, m)."""
        return times_lower(D, self.inverse)

    def pull_factor(self, products: Array) -> Array:
        """dL/dE_mm (m, m, symmetric) from D'B (m, m), D = dL/dB.

        -1/2 L^-T (Phi + Phi') L^-1, Phi the lower triangle of D'B with half its diagonal [MURRAY2016].
        """
        lower_half = np.tril(products)
        lower_half.flat[:: len(lower_half) + 1] *= 0.5
        half = times_lower(lower_half + lower_half.T, self.inverse)
        return -0.5 * times_lower(half.T, self.inverse)


Prior = Independent | GaussianProcess
