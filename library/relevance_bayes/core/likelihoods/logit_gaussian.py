"""Targets between 0 and 1 whose logit has Gaussian noise."""

from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal

import numpy as np

from relevance_bayes.core.likelihoods.base import POINTS, WEIGHTS, LatentGaussian, NumberPrediction, Targets
from relevance_bayes.core.likelihoods.gaussian import GaussianNoise, RealPrediction
from relevance_bayes.core.likelihoods.log_gaussian import TransformedGaussian
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.tracing import A, ExtendedNamespace
from relevance_bayes.core.types import Array, ForRows

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
        """By `share_moments`; the variance due to the function is divided between weights and residual in the shares
        of the logit's."""
        v = logit.weights + logit.residual
        parts = [
            share_moments(NUMPY, logit.mean[rows], v[rows], logit.noise[rows])
            for rows in (slice(first, first + BLOCK) for first in range(0, max(len(v), 1), BLOCK))
        ]
        mean, noise, function = map(np.concatenate, zip(*parts, strict=True))
        share = np.divide(logit.residual, v, out=np.zeros_like(v), where=v > 0.0)
        return cls(mean, noise, (1.0 - share) * function, share * function, logit)

    def quantile(self, probability: float) -> Array:
        """The share of the logit's: exact."""
        return bounded_share(NUMPY, self.logit.quantile(probability))

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


def bounded_share(xp: ExtendedNamespace[A], logit: A) -> A:
    """1/(1 + e^-logit), above 0 and below 1."""
    return xp.expit(xp.minimum(xp.maximum(logit, MIN_LOGIT), MAX_LOGIT))


def share_moments(xp: ExtendedNamespace[A], mean: A, variance: A, noise: A) -> tuple[A, A, A]:
    """E t, E Var(t | f) and Var E(t | f), each (N,), of t = 1/(1 + e^-(f + e)), f ~ N(mean, variance), e ~ N(0, noise).

    By Gauss-Hermite quadrature: in f + e for the mean and the total variance, in f and e for the variance due to f.
    Where f + e has an sd of 2, the mean is exact to 1e-8; of 5, to 1e-3.
    """
    m = xp.expand_dims(mean, axis=-1)
    shares = bounded_share(xp, m + xp.expand_dims(xp.sqrt(variance + noise), axis=-1) * POINTS)
    expected = xp.matmul(shares, WEIGHTS)
    centre = xp.expand_dims(expected, axis=-1)
    total = xp.matmul(xp.square(shares - centre), WEIGHTS)
    f = xp.expand_dims(m + xp.expand_dims(xp.sqrt(variance), axis=-1) * FEW_POINTS, axis=-1)
    e = xp.expand_dims(xp.expand_dims(xp.sqrt(noise), axis=-1), axis=-1) * FEW_POINTS
    given = xp.matmul(bounded_share(xp, f + e), FEW_WEIGHTS)
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
        """Logit-normal: see `share_moments`."""
        return share_moments(xp, mean, variance, noise)

    def ends(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A, z: float) -> tuple[A, A]:
        """The shares of m -+ z sd."""
        reach = z * xp.sqrt(noise + variance)
        return bounded_share(xp, mean - reach), bounded_share(xp, mean + reach)

    def predictive(self, latent: LatentGaussian, noise_sd: ForRows | None) -> SharePrediction:
        """The share of the prediction under Gaussian noise."""
        return SharePrediction.of(GaussianNoise().predictive(latent, noise_sd))
