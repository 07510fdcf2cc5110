"""Gaussian likelihoods of transformed targets: logarithms, logits, and logarithms of variances."""

from dataclasses import dataclass
from math import inf, log, pi
from typing import ClassVar, Literal

import numpy as np

from relevance_bayes.core.errors import ConstantTargetError, DataError
from relevance_bayes.core.likelihoods.base import (
    POINTS,
    WEIGHTS,
    LatentGaussian,
    NumberLikelihood,
    NumberPrediction,
    Sites,
    Targets,
    log_of_mean,
)
from relevance_bayes.core.likelihoods.gaussian import GaussianNoise, RealPrediction, noise_range, noise_sd_of
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.tracing import A, ExtendedNamespace, Namespace
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
        return -0.5 * (log(2.0 * pi) + f + t * _exp_with_linear_tail(-f))

    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """lam = t e^-f / 2 and g = (t e^-f - 1) / 2, each (N,)."""
        half = 0.5 * t * _slope(-f)
        return half, half - 0.5

    def expected(self, t: Array, f: Array, v: Array, beta: ForRows) -> Sites:
        """ell = -(log 2 pi + f)/2 - lam, g = lam - 1/2, lam = t e^(-f + v/2) / 2."""
        exponent = 0.5 * v - f
        half = 0.5 * t * _slope(exponent)
        return Sites(-0.5 * (log(2.0 * pi) + f + t * _exp_with_linear_tail(exponent)), half - 0.5, half)

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


def _exp_with_linear_tail(x: Array) -> Array:
    return _slope(x) * (1.0 + np.maximum(x - MIN_BEND, 0.0))


def _slope(x: Array) -> Array:
    return np.exp(np.minimum(x, MIN_BEND))


MIN_LOGIT, MAX_LOGIT = -700.0, 36.0
"""The bounds of a logit whose share is above 0 and below 1 in float64."""

FEW_POINTS, FEW_WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
FEW_WEIGHTS = FEW_WEIGHTS / FEW_WEIGHTS.sum()
"""The quadrature in the function and the noise at once, which the variance due to the function needs."""

BLOCK = 2_048
"""Rows whose moments are computed at once."""


@dataclass(frozen=True, eq=False)
class SharePrediction(NumberPrediction):
    """Logit-normal: `logit` is the prediction of the logit, whose quantiles are those of the target.

    Where `logit` is Student's t, quantiles, density and distribution follow from it; mean and variance are those of the
    logit-normal distribution of the same scale.
    """

    logit: RealPrediction

    @classmethod
    def of(cls, logit: RealPrediction) -> "SharePrediction":
        """By `_share_moments`; the variance due to the function is divided between weights and residual in the shares
        of the logit's."""
        v = logit.weights + logit.residual
        parts = [
            _share_moments(NUMPY, logit.mean[rows], v[rows], logit.noise[rows])
            for rows in (slice(first, first + BLOCK) for first in range(0, max(len(v), 1), BLOCK))
        ]
        mean, noise, function = map(np.concatenate, zip(*parts, strict=True))
        share = np.divide(logit.residual, v, out=np.zeros_like(v), where=v > 0.0)
        return cls(mean, noise, (1.0 - share) * function, share * function, logit)

    def quantile(self, probability: float) -> Array:
        """The share of the logit's: exact."""
        return _bounded_share(NUMPY, self.logit.quantile(probability))

    def log_density(self, t: Array) -> Array:
        """log N(logit t; m, variance) - log t - log(1 - t); minus infinity where t is not between 0 and 1."""
        inside = (t > 0.0) & (t < 1.0)
        logs, others = _log_shares(np.where(inside, t, 0.5))
        return np.where(inside, self.logit.log_density(logs - others) - logs - others, -inf)

    def distribution(self, t: Array) -> tuple[Array, Array]:
        """The distribution of the logit; 0 up to t = 0 and 1 from t = 1 on."""
        inside = (t > 0.0) & (t < 1.0)
        logs, others = _log_shares(np.where(inside, t, 0.5))
        _, upto = self.logit.distribution(logs - others)
        upto = np.where(inside, upto, np.where(t >= 1.0, 1.0, 0.0))
        return upto, upto


def _bounded_share(xp: ExtendedNamespace[A], logit: A) -> A:
    """1/(1 + e^-logit), above 0 and below 1."""
    return xp.expit(xp.minimum(xp.maximum(logit, MIN_LOGIT), MAX_LOGIT))


def _share_moments(xp: ExtendedNamespace[A], mean: A, variance: A, noise: A) -> tuple[A, A, A]:
    """E t, E Var(t | f) and Var E(t | f), each (N,), of t = 1/(1 + e^-(f + e)), f ~ N(mean, variance), e ~ N(0, noise).

    By Gauss-Hermite quadrature: in f + e for the mean and the total variance, in f and e for the variance due to f.
    Where f + e has an sd of 2, the mean is exact to 1e-8; of 5, to 1e-3.
    """
    m = xp.expand_dims(mean, axis=-1)
    shares = _bounded_share(xp, m + xp.expand_dims(xp.sqrt(variance + noise), axis=-1) * POINTS)
    expected = xp.matmul(shares, WEIGHTS)
    centre = xp.expand_dims(expected, axis=-1)
    total = xp.matmul(xp.square(shares - centre), WEIGHTS)
    f = xp.expand_dims(m + xp.expand_dims(xp.sqrt(variance), axis=-1) * FEW_POINTS, axis=-1)
    e = xp.expand_dims(xp.expand_dims(xp.sqrt(noise), axis=-1), axis=-1) * FEW_POINTS
    given = xp.matmul(_bounded_share(xp, f + e), FEW_WEIGHTS)
    centre = xp.expand_dims(xp.matmul(given, FEW_WEIGHTS), axis=-1)
    function = xp.minimum(xp.matmul(xp.square(given - centre), FEW_WEIGHTS), total)
    return expected, total - function, function


def _log_shares(t: Array) -> tuple[Array, Array]:
    """log t and log(1 - t), each (N,), of shares between 0 and 1."""
    return np.log(t), np.log1p(-t)


@dataclass(frozen=True)
class LogitGaussian(TransformedGaussian):
    """log(t_n / (1 - t_n)) = f_n + N(0, noise_sd^2): shares between 0 and 1, whose scatter is least near both.

    The noise of the logit is learned. All is as for Gaussian noise on the logit of t; the evidence is that of t itself.
    """

    type: Literal["logit_gaussian"] = "logit_gaussian"

    targets: ClassVar[Targets] = "share"

    def working(self, t: Array) -> tuple[Array, float]:
        """The logits (N,), and the sum of log of d logit t/dt = 1/(t (1 - t)) over all rows."""
        logs, others = _log_shares(t)
        return logs - others, -float((logs + others).sum())

    def moments(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A) -> tuple[A, A, A]:
        """Logit-normal: see `_share_moments`."""
        return _share_moments(xp, mean, variance, noise)

    def ends(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A, z: float) -> tuple[A, A]:
        """The shares of m -+ z sd."""
        reach = z * xp.sqrt(noise + variance)
        return _bounded_share(xp, mean - reach), _bounded_share(xp, mean + reach)

    def predictive(self, latent: LatentGaussian, noise_sd: ForRows | None) -> SharePrediction:
        """The share of the prediction under Gaussian noise."""
        return SharePrediction.of(GaussianNoise().predictive(latent, noise_sd))
