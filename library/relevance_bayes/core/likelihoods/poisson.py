"""Counts."""

from dataclasses import dataclass
from math import exp
from typing import ClassVar, Literal

import numpy as np
import scipy

from relevance_bayes.core.likelihoods.base import LatentGaussian, Sites
from relevance_bayes.core.likelihoods.counts import MAX_LOG_RATE, CountLikelihood, CountPrediction, mean_count
from relevance_bayes.core.tracing import A, Namespace
from relevance_bayes.core.types import Array, ForRows

NEGLIGIBLE = 40.0
"""Nats below the greatest density of log g, g a gamma variable, beyond which it is neglected."""

STEPS = np.linspace(0.0, 1.0, 161)

Z = np.linspace(-8.5, 8.5, 69)
SHARES = np.exp(-0.5 * Z**2) / np.exp(-0.5 * Z**2).sum()


@dataclass(frozen=True, eq=False)
class PoissonPrediction(CountPrediction):
    """Predictions of Poisson counts with a log-normal rate."""

    def not_above(self, count: Array) -> Array:
        """P(t <= count), (N,).

        P(t <= k | f) = P(g >= e^f), g ~ Gamma(k + 1): integrated over f where its sd is less than that of log g, else
        over log g, so that the step is always wider than the quadrature needs.
        """
        m, sd, shape = self.latent.mean, np.sqrt(self.latent.variance), count + 1.0
        answer = np.empty(len(m))
        narrow = sd * np.sqrt(shape) < 1.0
        rates = np.exp(np.minimum(m[narrow, None] + sd[narrow, None] * Z, MAX_LOG_RATE))
        answer[narrow] = scipy.special.gammaincc(shape[narrow, None], rates) @ SHARES
        wide = ~narrow
        a = shape[wide, None]
        span, spread = NEGLIGIBLE / a, (2.0 * NEGLIGIBLE / a) ** 0.5
        low, high = -span - spread, np.log1p(span + spread)
        u = low + (high - low) * STEPS
        density = np.exp(a * (u - np.expm1(u)))
        below = scipy.special.ndtr((np.log(a) + u - m[wide, None]) / sd[wide, None])
        answer[wide] = (below * density).sum(axis=1) / density.sum(axis=1)
        return answer


@dataclass(frozen=True)
class Poisson(CountLikelihood):
    """t ~ Poisson(e^f): counts, with the logarithm of the rate as the latent.

    E e^f under N(f, v) is e^(f + v/2), so that all expectations have a closed form.
    """

    type: Literal["poisson"] = "poisson"

    is_log_concave: ClassVar[bool] = True

    def log_density(self, t: Array, f: Array, beta: ForRows) -> Array:
        """log p(t_n | f_n), (N,)."""
        return t * f - _rate(f) - scipy.special.gammaln(t + 1.0)

    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """lam = e^f and g = t - e^f, each (N,)."""
        rate = _rate(f)
        return rate, t - rate

    def expected(self, t: Array, f: Array, v: Array, beta: ForRows) -> Sites:
        """ell = t f - e^(f + v/2) - log t!, g = t - e^(f + v/2), lam = e^(f + v/2)."""
        rate = _rate(f + 0.5 * v)
        return Sites(t * f - rate - scipy.special.gammaln(t + 1.0), t - rate, rate)

    def precision_slope(self, t: Array, f: Array) -> Array:
        """d lam / d f = e^f, (N,)."""
        return _rate(f)

    def moments(self, xp: Namespace[A], mean: A, variance: A, noise: A) -> tuple[A, A, A]:
        """E = e^(f + v/2) = E Var(t | f), the mean bounded as in `mean_count`, and E^2 (e^v - 1)."""
        rate = xp.exp(xp.minimum(mean + 0.5 * variance, MAX_LOG_RATE))
        steep = rate * xp.expm1(xp.minimum(variance, MAX_LOG_RATE))
        return mean_count(xp, mean, variance), rate, rate * xp.minimum(steep, exp(MAX_LOG_RATE))

    def cumulative(self, t: Array, f: Array) -> Array:
        """P(g >= e^f), g ~ Gamma(t + 1)."""
        return np.asarray(scipy.special.gammaincc(t + 1.0, _rate(f)))

    def predictive(self, latent: LatentGaussian, noise_sd: ForRows | None) -> PoissonPrediction:
        """Predictions of counts with a log-normal rate."""
        return PoissonPrediction.of(self, latent)


def _rate(f: Array) -> Array:
    return np.exp(np.minimum(f, MAX_LOG_RATE))
