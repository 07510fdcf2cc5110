"""Targets from 0 on that are often exactly 0: zero or not, and the logarithm of the others with Gaussian noise.

Such a model is a hurdle, or two-part, model [CRAGG1971: Cragg, Some statistical models for limited dependent variables
with application to the demand for durable goods, Econometrica 39].
"""

from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal

import numpy as np
import scipy

from relevance_bayes.core.errors import ConstantTargetError, DataError
from relevance_bayes.core.likelihoods.base import (
    POINTS,
    WEIGHTS,
    ClassPrediction,
    LatentGaussian,
    NumberPrediction,
    Targets,
)
from relevance_bayes.core.likelihoods.bernoulli import Bernoulli
from relevance_bayes.core.likelihoods.transformed_gaussian import LogGaussian, PositivePrediction, bounded_exp
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.tracing import A, ExtendedNamespace
from relevance_bayes.core.types import Array, ForRows

MAX_VARIANCE = float(np.finfo(np.float64).max) / 8.0
"""The bound of each part of a variance."""

MIN_PROBABILITY = float(np.finfo(np.float64).eps)
"""The bound of the probability of a zero on either side, so that both have a logarithm."""


@dataclass(frozen=True, eq=False)
class HurdlePrediction(NumberPrediction):
    """Zero with the probability `zero` (N,), else log-normal: `positive` is the prediction of N positive targets."""

    zero: Array
    positive: PositivePrediction

    @classmethod
    def of(cls, is_zero: ClassPrediction, latent: LatentGaussian, positive: PositivePrediction) -> "HurdlePrediction":
        """By `hurdle_moments`."""
        zero = np.clip(is_zero.probability, MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)
        share = np.divide(latent.residual, latent.variance, out=np.zeros_like(zero), where=latent.variance > 0.0)
        parts = positive.noise, positive.weights, positive.residual
        with np.errstate(over="ignore"):
            moments = hurdle_moments(NUMPY, zero, (latent.mean, latent.variance, share), positive.mean, parts)
        return cls(*moments, zero, positive)

    def quantile(self, probability: float) -> Array:
        """0 up to the probability of a zero, then that of `positive` at the share that is left: exact."""
        log, once = self.positive.log, 1.0 - self.zero
        below, above = np.maximum(probability - self.zero, 0.0) / once, np.minimum((1.0 - probability) / once, 1.0)
        # In the lower tail, where a probability is accurate.
        tail, nu = np.maximum(np.minimum(below, above), np.finfo(np.float64).tiny), log.degrees_of_freedom
        z = scipy.special.ndtri(tail) if nu is None else scipy.special.stdtrit(nu, tail)
        z = np.where(below <= above, z, -z)
        found = bounded_exp(np, log.mean + z * np.sqrt(log.variance))
        return np.where(probability <= self.zero, 0.0, found)

    def log_density(self, t: Array) -> Array:
        """The log probability of a zero; of a positive t its log density; minus infinity below 0."""
        positive = np.log1p(-self.zero) + self.positive.log_density(t)
        return np.where(t == 0.0, np.log(self.zero), np.where(t > 0.0, positive, -inf))

    def distribution(self, t: Array) -> tuple[Array, Array]:
        """Both are 0 below 0, and differ at 0 by the probability of a zero."""
        _, upto = self.positive.distribution(t)
        upto = self.zero + (1.0 - self.zero) * upto
        return np.where(t > 0.0, upto, 0.0), np.where(t >= 0.0, upto, 0.0)

    def log_probability(self, t: Array, half_width: float) -> Array:
        """The log probability of the interval of this half width, above 0, about each t (N,), in nats."""
        with np.errstate(divide="ignore"):
            exact = np.log(self.distribution(t + half_width)[1] - self.distribution(t - half_width)[0])
        # Where it is narrow, the difference of both loses its digits.
        is_narrow = half_width < NARROW * t
        return np.where(is_narrow, self.log_density(t) + np.log(2.0 * half_width), exact)


def hurdle_moments(
    xp: ExtendedNamespace[A], zero: A, latent: tuple[A, A, A], mean: A, parts: tuple[A, A, A]
) -> tuple[A, A, A, A]:
    """The mean, and the variance by noise, weights and residual, by the law of total variance.

    The probability of a `zero` is E(1 - q), q = P(t > 0 | g) of the `latent` g with its mean, its variance and the
    share of the residual in it; m = E(t | f, t > 0) has the `mean` and the `parts` of the variance. Then E t = E q E m,
    E Var(t | f, g) = E q noise + (E q - E q^2) E m^2, and Var E(t | f, g) = E q^2 Var m + Var q (E m)^2. The first term
    of the latter has the parts of m, the second those of g.
    """
    (of_mean, of_variance, share), (noise, weights, residual), once = latent, parts, 1.0 - zero
    logits = xp.expand_dims(of_mean, axis=-1) + xp.expand_dims(xp.sqrt(of_variance), axis=-1) * POINTS
    twice = xp.matmul(xp.square(xp.expit(-logits)), WEIGHTS)
    twice = xp.minimum(xp.maximum(twice, xp.square(once)), once)
    spread = xp.minimum(xp.square(mean), MAX_VARIANCE)
    of_zeros = (twice - xp.square(once)) * spread
    total = once * noise + (once - twice) * (spread + weights + residual)
    by_weights, by_residual = twice * weights + (1.0 - share) * of_zeros, twice * residual + share * of_zeros
    noise, weights, residual = (xp.minimum(part, MAX_VARIANCE) for part in (total, by_weights, by_residual))
    return once * mean, noise, weights, residual


NARROW = 1e-4
"""The half width of an interval over its centre below which the density counts as constant."""


@dataclass(frozen=True)
class Hurdle:
    """P(t_n = 0) = sigma(g_n), else log t_n = f_n + N(0, noise_sd^2): targets from 0 on with many zeros.

    Each function has a model of its own, `zero` of all rows and `positive` of the rows above 0. The noise of the
    logarithm is learned. The likelihood of the whole.
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["hurdle"] = "hurdle"

    targets: ClassVar[Targets] = "amount"
    latents: ClassVar[int] = 1
    noise_by_row: ClassVar[bool] = False
    is_conjugate: ClassVar[bool] = False
    has_target_units: ClassVar[bool] = False
    min_gain: ClassVar[float] = LogGaussian.min_gain
    zero: ClassVar[Bernoulli] = Bernoulli()
    positive: ClassVar[LogGaussian] = LogGaussian()

    def check(self, t: Array) -> None:
        """Raise DataError unless t (N,) are from 0 on, ConstantTargetError unless two of them above 0 differ."""
        if not (t >= 0.0).all():
            raise DataError(f"expected targets from 0 on, got {t.min():g}")
        above = t[t > 0.0]
        if not len(above) or (above == above[0]).all():
            raise ConstantTargetError("expected targets above 0 that differ")

    def start(self, t: Array) -> tuple[float, float]:
        """There is no noise of the target itself to learn."""
        return self.zero.start(t)

    def noise(self, beta: ForRows) -> None:
        """None: only the logarithm of positive targets has noise."""
