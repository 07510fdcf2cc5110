"""Positive targets whose logarithm has Gaussian noise."""

from dataclasses import dataclass
from math import inf
from statistics import NormalDist
from typing import ClassVar, Literal, Self

import numpy as np

from app.sparse_bayes.errors import ConstantTargetError, DataError
from app.sparse_bayes.likelihoods.gaussian import GaussianNoise, RealPrediction, noise_range, noise_sd_of
from app.sparse_bayes.likelihoods.predictive import Latent, NumberPrediction
from app.sparse_bayes.likelihoods.sites import Sites
from app.sparse_bayes.types import Array, ForRows

LARGEST_LOG = 700.0
"""What exp can still carry in float64, with room for a factor."""


@dataclass(frozen=True, eq=False)
class PositivePrediction(NumberPrediction):
    """Log-normal: `log` is the prediction of the logarithm, whose quantiles are those of the target."""

    log: RealPrediction

    @classmethod
    def of(cls, log: RealPrediction) -> "PositivePrediction":
        """With V = weights + beyond and n = noise of the logarithm m:

        E = exp(m + (n + V)/2), E Var(t | f) = E^2 e^V (e^n - 1) and Var E(t | f) = E^2 (e^V - 1), the latter shared
        between weights and beyond as V is.
        """
        V = log.weights + log.beyond
        mean = _exp(log.mean + 0.5 * (log.noise + V))
        function = _product(mean, np.expm1(np.minimum(V, LARGEST_LOG)))
        noise = _product(mean, _product(_exp(V), np.expm1(np.minimum(log.noise, LARGEST_LOG)), power=1))
        share = np.divide(log.beyond, V, out=np.zeros_like(V), where=V > 0.0)
        return cls(mean, noise, (1.0 - share) * function, share * function, log)

    def quantile(self, probability: float) -> Array:
        """exp(m + z sd): exact."""
        return _exp(self.log.mean + NormalDist().inv_cdf(probability) * np.sqrt(self.log.variance))

    def log_density(self, t: Array) -> Array:
        """log N(log t; m, variance) - log t; minus infinity where t is not positive."""
        positive = t > 0.0
        logs = np.log(np.where(positive, t, 1.0))
        return np.where(positive, self.log.log_density(logs) - logs, -inf)

    def distribution(self, t: Array) -> tuple[Array, Array]:
        """That of the logarithm; nothing is below 0."""
        positive = t > 0.0
        _, upto = self.log.distribution(np.log(np.where(positive, t, 1.0)))
        upto = np.where(positive, upto, 0.0)
        return upto, upto


def _exp(values: Array) -> Array:
    return np.exp(np.clip(values, -LARGEST_LOG, LARGEST_LOG))


def _product(one: Array, other: Array, *, power: int = 2) -> Array:
    """one^power other, at most what float64 can carry."""
    with np.errstate(over="ignore"):
        return np.minimum(one**power * other, np.finfo(float).max / 8.0)


@dataclass(frozen=True)
class LogGaussian:
    """log t_n = f_n + N(0, noise_sd^2): targets above 0 whose scatter grows with their size.

    The noise of the logarithm is learned. All is as for Gaussian noise on log t; the evidence is that of t itself.
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["log_gaussian"] = "log_gaussian"

    conjugate: ClassVar[bool] = True
    noise_by_row: ClassVar[bool] = False
    constant_precision: ClassVar[bool] = True
    log_concave: ClassVar[bool] = True
    latents: ClassVar[int] = 1
    in_target_units: ClassVar[bool] = True
    greatest_latent_sd: ClassVar[float] = inf
    least_gain: ClassVar[float] = 2.0

    def check(self, t: Array) -> None:
        """Raise DataError unless all t (N,) are above 0, ConstantTargetError where they are all the same."""
        if not (t > 0.0).all():
            raise DataError(f"expected targets above 0, got {t.min():g}")
        if np.all(t == t[0]):
            raise ConstantTargetError(f"expected targets that differ, all are {t[0]:g}")

    def working(self, t: Array) -> tuple[Array, float]:
        """log t (N,), and log of d log t/dt over all rows, which the evidence of t has beside that of log t."""
        logs = np.log(t)
        return logs, -float(logs.sum())

    def start(self, t: Array) -> tuple[float, float]:
        """The noise precision beta to begin with, and its greatest value."""
        return noise_range(t)

    def first(self, t: Array, v: Array) -> tuple[Array, Array]:
        """Anywhere: its sites don't depend on the latent."""
        return np.zeros(len(t)), v

    def tuned(self, t: Array, f: Array, v: Array, beta: ForRows) -> Self:
        """There is nothing but the noise to learn."""
        return self

    def noise(self, beta: ForRows) -> float:
        """The sd of the logarithm's noise."""
        return noise_sd_of(beta)

    def log_density(self, t: Array, f: Array, beta: ForRows) -> Array:
        """log p(log t_n | f_n), (N,)."""
        return GaussianNoise().log_density(t, f, beta)

    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """Those of Gaussian noise on log t."""
        return GaussianNoise().sites(t, f, beta)

    def expected(self, t: Array, f: Array, v: Array, beta: ForRows) -> Sites:
        """That of Gaussian noise on log t."""
        return GaussianNoise().expected(t, f, v, beta)

    def precision_slope(self, t: Array, f: Array) -> Array:
        """d lam / d f (N,): none."""
        return np.zeros(len(t))

    def predictive(self, latent: Latent, noise_sd: ForRows | None) -> PositivePrediction:
        """The exponential of what Gaussian noise predicts."""
        return PositivePrediction.of(GaussianNoise().predictive(latent, noise_sd))
