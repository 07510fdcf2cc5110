"""Squared residuals whose expectation is e^f: the targets of a noise variance that depends on the inputs."""

from dataclasses import dataclass
from math import log, pi
from typing import ClassVar, Literal

import numpy as np

from relevance_bayes.core.errors import ConstantTargetError, DataError
from relevance_bayes.core.likelihoods.base import LatentGaussian, NumberLikelihood, Sites, Targets, log_of_mean
from relevance_bayes.core.likelihoods.gaussian import GaussianNoise
from relevance_bayes.core.likelihoods.log_gaussian import MAX_LOG, PositivePrediction, bounded_exp
from relevance_bayes.core.tracing import A, Namespace
from relevance_bayes.core.types import Array, ForRows

MIN_BEND = 30.0
"""e^x is continued linearly from here, so that a too long step of a search has finite values; a noise sd of 3e-7 times
the mean one is below it."""

MIN_SHARE = 0.01
"""The initial squares are at least this share of their mean."""


@dataclass(frozen=True)
class LogVariance(NumberLikelihood):
    """log p(t | f) = -1/2 (log 2 pi + f + t e^-f): t = E r^2 of a residual r ~ N(0, e^f) [LAZARO2011].

    Under N(f, v) its expectation has e^(-f + v/2) in the place of e^-f: closed form. [LAZARO2011] is Lazaro-Gredilla &
    Titsias, Variational heteroscedastic Gaussian process regression, ICML 28; [HARVEY1976] is Harvey, Estimating
    regression models with multiplicative heteroscedasticity, Econometrica 44.
    """

    type: Literal["log_variance"] = "log_variance"

    targets: ClassVar[Targets] = "square"
    is_log_concave: ClassVar[bool] = True
    max_latent_sd: ClassVar[float] = 10.0

    def check(self, t: Array) -> None:
        """Raise DataError unless t (N,) are squares, ConstantTargetError where all are 0."""
        if not (t >= 0.0).all():
            raise DataError(f"expected squares, got {t.min():g}")
        if not t.any():
            raise ConstantTargetError("expected some squares above 0, all are 0")

    def first(self, t: Array, v: Array) -> tuple[Array, Array]:
        """The logarithms of the squares: sites of precision 1/2 [HARVEY1976]."""
        return np.log(np.maximum(t, MIN_SHARE * t.mean())), np.zeros(len(t))

    def log_density(self, t: Array, f: Array, beta: ForRows) -> Array:
        """log p(t_n | f_n), (N,)."""
        return -0.5 * (log(2.0 * pi) + f + t * _exp(-f))

    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """lam = t e^-f / 2 and g = (t e^-f - 1) / 2, each (N,)."""
        half = 0.5 * t * _slope(-f)
        return half, half - 0.5

    def expected(self, t: Array, f: Array, v: Array, beta: ForRows) -> Sites:
        """ell = -(log 2 pi + f)/2 - lam, g = lam - 1/2, lam = t e^(-f + v/2) / 2."""
        exponent = 0.5 * v - f
        half = 0.5 * t * _slope(exponent)
        return Sites(-0.5 * (log(2.0 * pi) + f + t * _exp(exponent)), half - 0.5, half)

    def precision_slope(self, t: Array, f: Array) -> Array:
        """d lam / d f = -t e^-f / 2, (N,)."""
        return np.where(-f < MIN_BEND, -0.5 * t * _slope(-f), 0.0)

    def moments(self, xp: Namespace[A], mean: A, variance: A, noise: A) -> tuple[A, A, A]:
        """Those of the variance e^f itself, which has no noise; the mean is bounded as in `log_of_mean`."""
        expected = bounded_exp(xp, mean + 0.5 * variance)
        return (
            bounded_exp(xp, log_of_mean(xp, mean, variance)),
            0.0 * expected,
            expected * expected * xp.expm1(xp.minimum(variance, MAX_LOG)),
        )

    def predictive(self, latent: LatentGaussian, noise_sd: ForRows | None) -> PositivePrediction:
        """The variance e^f itself, log-normal."""
        return PositivePrediction.of(GaussianNoise().predictive(latent, None))


def _exp(x: Array) -> Array:
    return _slope(x) * (1.0 + np.maximum(x - MIN_BEND, 0.0))


def _slope(x: Array) -> Array:
    return np.exp(np.minimum(x, MIN_BEND))
