"""Positive targets whose logarithm has Gaussian noise."""

from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal

import numpy as np

from relevance_bayes.core.likelihoods.base import (
    LatentGaussian,
    NumberLikelihood,
    NumberPrediction,
    Sites,
    Targets,
    log_of_mean,
)
from relevance_bayes.core.likelihoods.gaussian import GaussianNoise, RealPrediction, noise_range, noise_sd_of
from relevance_bayes.core.tracing import A, Namespace
from relevance_bayes.core.types import Array, ForRows

MAX_LOG = 700.0
"""The greatest exponent of exp in float64, less a margin for a factor."""


@dataclass(frozen=True, eq=False)
class PositivePrediction(NumberPrediction):
    """Log-normal: `log` is the prediction of the logarithm, whose quantiles are those of the target.

    Where `log` is Student's t, quantiles, density and distribution follow from it; mean and variance, which are then
    infinite, are those of the log-normal distribution of the same scale.
    """

    log: RealPrediction

    @classmethod
    def of(cls, log: RealPrediction) -> "PositivePrediction":
        """With V = weights + residual and n = noise of the logarithm m:

        E = exp(m + (n + V)/2), E Var(t | f) = E^2 e^V (e^n - 1) and Var E(t | f) = E^2 (e^V - 1), the latter divided
        between weights and residual in the same shares as V. The mean is E, bounded as in `log_of_mean`.
        """
        V = log.weights + log.residual
        expected = _exp(log.mean + 0.5 * (log.noise + V))
        function = _product(expected, np.expm1(np.minimum(V, MAX_LOG)))
        noise = _product(expected, _product(_exp(V), np.expm1(np.minimum(log.noise, MAX_LOG)), power=1))
        share = np.divide(log.residual, V, out=np.zeros_like(V), where=V > 0.0)
        mean = _exp(log_of_mean(np, log.mean, V) + 0.5 * log.noise)
        return cls(mean, noise, (1.0 - share) * function, share * function, log)

    def quantile(self, probability: float) -> Array:
        """The exponential of the logarithm's: exact."""
        return _exp(self.log.quantile(probability))

    def log_density(self, t: Array) -> Array:
        """log N(log t; m, variance) - log t; minus infinity where t is not positive."""
        positive = t > 0.0
        logs = np.log(np.where(positive, t, 1.0))
        return np.where(positive, self.log.log_density(logs) - logs, -inf)

    def distribution(self, t: Array) -> tuple[Array, Array]:
        """The distribution of the logarithm; 0 below t = 0."""
        positive = t > 0.0
        _, upto = self.log.distribution(np.log(np.where(positive, t, 1.0)))
        upto = np.where(positive, upto, 0.0)
        return upto, upto


def bounded_exp(xp: Namespace[A], values: A) -> A:
    """e^values, bounded away from 0 and from overflow."""
    return xp.exp(xp.minimum(xp.maximum(values, -MAX_LOG), MAX_LOG))


def _exp(values: Array) -> Array:
    return bounded_exp(np, values)


def _product(one: Array, other: Array, *, power: int = 2) -> Array:
    """one^power other, bounded below overflow."""
    with np.errstate(over="ignore"):
        return np.minimum(one**power * other, np.finfo(float).max / 8.0)


class TransformedGaussian(NumberLikelihood):
    """Gaussian noise on a function of the target: a likelihood defines `working`, `moments`, `ends` and `predictive`.

    Noise and process have the units of that function, whatever those of the target.
    """

    is_conjugate: ClassVar[bool] = True
    has_constant_precision: ClassVar[bool] = True
    is_log_concave: ClassVar[bool] = True
    has_target_units: ClassVar[bool] = True
    has_input_range: ClassVar[bool] = True
    min_gain: ClassVar[float] = 2.0

    def start(self, t: Array) -> tuple[float, float]:
        """The noise precision beta to begin with, and its greatest value, of working targets t (N,)."""
        return noise_range(t)

    def noise(self, beta: ForRows) -> float:
        """The sd of the noise of the working targets."""
        return noise_sd_of(beta)

    def log_density(self, t: Array, f: Array, beta: ForRows) -> Array:
        """log p(t_n | f_n) of working targets t, (N,)."""
        return GaussianNoise().log_density(t, f, beta)

    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """Those of Gaussian noise on working targets t."""
        return GaussianNoise().sites(t, f, beta)

    def expected(self, t: Array, f: Array, v: Array, beta: ForRows) -> Sites:
        """That of Gaussian noise on working targets t."""
        return GaussianNoise().expected(t, f, v, beta)


@dataclass(frozen=True)
class LogGaussian(TransformedGaussian):
    """log t_n = f_n + N(0, noise_sd^2): targets above 0 whose scatter grows with their size.

    The noise of the logarithm is learned. All is as for Gaussian noise on log t; the evidence is that of t itself.
    """

    type: Literal["log_gaussian"] = "log_gaussian"

    targets: ClassVar[Targets] = "positive"

    def working(self, t: Array) -> tuple[Array, float]:
        """log t (N,), and log of d log t/dt over all rows, which the evidence of t has beside that of log t."""
        logs = np.log(t)
        return logs, -float(logs.sum())

    def moments(self, xp: Namespace[A], mean: A, variance: A, noise: A) -> tuple[A, A, A]:
        """Log-normal: E = e^(m + (n + v)/2), bounded as in `log_of_mean`, E^2 e^v (e^n - 1) and E^2 (e^v - 1)."""
        expected = bounded_exp(xp, mean + 0.5 * (noise + variance))
        grown = xp.expm1(xp.minimum(noise, MAX_LOG))
        square = expected * expected
        return (
            bounded_exp(xp, log_of_mean(xp, mean, variance) + 0.5 * noise),
            square * (bounded_exp(xp, variance) * grown),
            square * xp.expm1(xp.minimum(variance, MAX_LOG)),
        )

    def ends(self, xp: Namespace[A], mean: A, variance: A, noise: A, z: float) -> tuple[A, A]:
        """e^(m -+ z sd)."""
        reach = z * xp.sqrt(noise + variance)
        return bounded_exp(xp, mean - reach), bounded_exp(xp, mean + reach)

    def predictive(self, latent: LatentGaussian, noise_sd: ForRows | None) -> PositivePrediction:
        """The exponential of the prediction under Gaussian noise."""
        return PositivePrediction.of(GaussianNoise().predictive(latent, noise_sd))
