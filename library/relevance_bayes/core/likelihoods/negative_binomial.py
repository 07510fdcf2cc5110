"""Overdispersed counts."""

from dataclasses import dataclass
from math import exp, log
from typing import ClassVar, Literal, Self

import numpy as np
import scipy

from relevance_bayes.core.likelihoods.base import ShapeParameter, Sites
from relevance_bayes.core.likelihoods.bernoulli import expected_softplus
from relevance_bayes.core.likelihoods.counts import MAX_LOG_RATE, CountLikelihood, mean_count
from relevance_bayes.core.tracing import A, Namespace
from relevance_bayes.core.types import Array, ForRows

# Below, nearly all counts are 0; above, the sd of counts of mean 100 exceeds Poisson's by .5 %.
DISPERSION = ShapeParameter("dispersion", first=1.0, min_value=1e-2, max_value=1e4)


@dataclass(frozen=True)
class NegativeBinomial(CountLikelihood):
    """t has the mean mu = e^f and the variance mu + mu^2 / dispersion: overdispersed counts.

    A Poisson distribution whose rate is mu times a Gamma variable of mean 1 and variance 1/dispersion, to which it
    tends as the dispersion grows. `dispersion` is learned by the evidence or given: theta in R's MASS, 1/alpha in
    statsmodels [HILBE2011: Hilbe, Negative binomial regression, 2nd edition].
    """

    dispersion: Literal["learned"] | float = "learned"
    type: Literal["negative_binomial"] = "negative_binomial"

    shape: ClassVar[ShapeParameter | None] = DISPERSION

    def log_density(self, t: Array, f: Array, beta: ForRows) -> Array:
        """log Gamma(t + k) / (Gamma(k) t!) + t (f - log k) - (t + k) log(1 + e^f/k), k the dispersion."""
        k = self.shape_or_first
        odds = np.minimum(f, MAX_LOG_RATE) - np.log(k)
        constant = scipy.special.gammaln(t + k) - scipy.special.gammaln(k) - scipy.special.gammaln(t + 1.0)
        return np.asarray(constant + t * odds - (t + k) * np.logaddexp(0.0, odds))

    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """lam = (t + k) s (1 - s) and g = t - (t + k) s, s = e^f/(e^f + k)."""
        k = self.shape_or_first
        odds = f - np.log(k)
        share = scipy.special.expit(odds)
        return (t + k) * share * scipy.special.expit(-odds), t - (t + k) * share

    def expected(self, t: Array, f: Array, v: Array, beta: ForRows) -> Sites:
        """That of log(1 + e^x), x ~ N(f - log k, v), and of its derivatives, as Bernoulli's."""
        k = self.shape_or_first
        odds = f - np.log(k)
        softplus, share, slope = expected_softplus(odds, v)
        constant = scipy.special.gammaln(t + k) - scipy.special.gammaln(k) - scipy.special.gammaln(t + 1.0)
        return Sites(constant + t * odds - (t + k) * softplus, t - (t + k) * share, (t + k) * slope)

    def tuned(self, t: Array, f: Array, v: Array, beta: ForRows) -> Self:
        """The likelihood with the dispersion at the root of the slope, which is more accurate than a maximum."""
        if self.dispersion != "learned":
            return self

        def slope(log_k: float) -> float:
            k = exp(log_k)
            softplus, share, _ = expected_softplus(f - log_k, v)
            of_gamma = scipy.special.digamma(t + k) - scipy.special.digamma(k)
            return float((of_gamma - softplus + ((t + k) * share - t) / k).sum())

        low, high = log(DISPERSION.min_value), log(DISPERSION.max_value)
        if slope(low) <= 0.0:
            return self.with_shape(DISPERSION.min_value)
        if slope(high) >= 0.0:
            return self.with_shape(DISPERSION.max_value)
        return self.with_shape(exp(float(scipy.optimize.brentq(slope, low, high, xtol=1e-13))))

    def cumulative(self, t: Array, f: Array) -> Array:
        """The regularised incomplete beta function I_p(k, t + 1) at p = k/(k + e^f)."""
        k = self.shape_or_first
        return np.asarray(scipy.special.betainc(k, t + 1.0, scipy.special.expit(np.log(k) - f)))

    def moments(self, xp: Namespace[A], mean: A, variance: A, noise: A) -> tuple[A, A, A]:
        """With E mu = e^(m + v/2) and E mu^2 = (E mu)^2 e^v: E mu, E mu + E mu^2 / k and E mu^2 - (E mu)^2.

        The mean is bounded as in `mean_count`.
        """
        rate = xp.exp(xp.minimum(mean + 0.5 * variance, 0.5 * MAX_LOG_RATE))
        bounded = xp.minimum(variance, 0.5 * MAX_LOG_RATE)
        square = xp.square(rate)
        noise = rate + square * xp.exp(bounded) / self.shape_or_first
        return mean_count(xp, mean, variance), noise, square * xp.expm1(bounded)
