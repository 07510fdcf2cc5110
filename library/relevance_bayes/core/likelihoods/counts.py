"""Likelihoods of counts with a log link: Poisson and negative binomial."""

from dataclasses import dataclass
from math import exp, log
from typing import ClassVar, Literal, Self

import numpy as np
import scipy

from relevance_bayes.core.likelihoods.base import (
    POINTS,
    WEIGHTS,
    LatentGaussian,
    NumberLikelihood,
    NumberPrediction,
    ShapeParameter,
    Sites,
    Targets,
    log_of_mean,
)
from relevance_bayes.core.likelihoods.bernoulli import expected_softplus
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.tracing import A, Namespace
from relevance_bayes.core.types import Array, ForRows

MAX_LOG_RATE = 300.0
"""The largest log rate, so that nothing overflows."""

MAX_COUNT = 2.0**53
"""The largest count up to which every whole number is a float64."""

MAX_NEWTON_STEPS = 100
LOG_WEIGHTS = np.log(WEIGHTS) + 0.5 * np.log(2.0 * np.pi) + 0.5 * POINTS**2

CELLS = 2**22
"""Probabilities of single counts that are summed at once."""

NARROW = 1.0
"""A Gaussian of a greater sd is too wide for Gauss-Hermite quadrature, as one that is wider than the step."""

REACH = 9.0
"""The distance in sds from a mean beyond which counts have no weight."""

PLACES, SHARES = np.polynomial.legendre.leggauss(200)


@dataclass(frozen=True, eq=False)
class CountPrediction(NumberPrediction):
    """Predictions of counts with an uncertain latent."""

    likelihood: "CountLikelihood"
    latent: LatentGaussian

    @classmethod
    def of(cls, likelihood: "CountLikelihood", latent: LatentGaussian) -> Self:
        """The variance from the latent is divided between weights and residual as the latent's own."""
        v = latent.variance
        mean, noise, function = likelihood.moments(NUMPY, latent.mean, v, np.zeros_like(v))
        share = np.divide(latent.residual, v, out=np.zeros_like(v), where=v > 0.0)
        return cls(mean, noise, (1.0 - share) * function, share * function, likelihood, latent)

    def quantile(self, probability: float) -> Array:
        """The least count that is not exceeded with this probability: by bisection between Chebyshev's bounds.

        They are wider by an sd, since the mean may have been bounded, by less than that.
        """
        sd = np.sqrt(self.variance)
        low = np.maximum(np.floor(self.mean - sd / probability**0.5) - 1.0, -1.0)
        high = np.minimum(np.ceil(self.mean + sd + sd / (1.0 - probability) ** 0.5), MAX_COUNT)
        while (high - low > 1.0).any():
            middle = np.ceil(0.5 * (low + high))
            reached = self.not_above(middle) >= probability
            high, low = np.where(reached, middle, high), np.where(reached, low, middle)
            low = np.minimum(low, high - 1.0)
        return np.asarray(high)

    def log_density(self, t: Array) -> Array:
        """log p(t): Gauss-Hermite quadrature about the mode of p(t | f) N(f); minus infinity where t is no count."""
        counts = np.maximum(np.round(t), 0.0)
        m, v = self.latent.mean, np.maximum(self.latent.variance, 1e-12)
        f = np.minimum(m, np.log(counts + 1.0))
        for _ in range(MAX_NEWTON_STEPS):
            lam, g = self.likelihood.sites(counts, f, 1.0)
            step = np.clip((g - (f - m) / v) / (np.maximum(lam, 0.0) + 1.0 / v), -1.0, 1.0)
            f = f + step
            if np.all(np.abs(step) < 1e-10):
                break
        lam, _ = self.likelihood.sites(counts, f, 1.0)
        sd = (np.maximum(lam, 0.0) + 1.0 / v) ** -0.5
        latent = f[:, None] + sd[:, None] * POINTS
        exponents = (
            self.likelihood.log_density(counts[:, None], latent, 1.0)
            - 0.5 * (latent - m[:, None]) ** 2 / v[:, None]
            + LOG_WEIGHTS
        )
        largest = exponents.max(axis=1)
        total = largest + np.log(np.exp(exponents - largest[:, None]).sum(axis=1))
        return np.where(counts == t, total + np.log(sd) - 0.5 * np.log(2.0 * np.pi * v), -np.inf)

    def distribution(self, t: Array) -> tuple[Array, Array]:
        """P(t - 1) and P(t) of the whole numbers about t, 0 below all counts."""
        counts = np.stack([np.ceil(t) - 1.0, np.floor(t)])
        below, upto = (np.where(each < 0.0, 0.0, self.not_above(np.maximum(each, 0.0))) for each in counts)
        return below, upto

    def not_above(self, count: Array) -> Array:
        """P(t <= count), (N,): that of the likelihood, integrated over the latent.

        P(t <= count | f) is a step in f. Where the Gaussian is narrow, by Gauss-Hermite quadrature; else by
        Gauss-Legendre quadrature over the step, below which the probability is 1.
        """
        m, sd = self.latent.mean, np.sqrt(self.latent.variance)
        step = np.log(count + 0.5)
        lam, _ = self.likelihood.sites(count, step, 1.0)
        width = np.maximum(lam, 1e-300) ** -0.5
        narrow = sd <= np.minimum(width, NARROW)
        found = np.empty(len(m))
        at = m[narrow, None] + sd[narrow, None] * POINTS
        found[narrow] = self.likelihood.cumulative(count[narrow, None], at) @ WEIGHTS
        wide = ~narrow
        m, sd, step, width = m[wide], sd[wide], step[wide], width[wide]
        low = np.clip(step - 4.0 * REACH * width, m - REACH * sd, m + REACH * sd)
        high = np.clip(step + REACH * width, low, m + REACH * sd)
        at = 0.5 * ((high + low)[:, None] + (high - low)[:, None] * PLACES)
        density = np.exp(-0.5 * np.square((at - m[:, None]) / sd[:, None])) / (sd[:, None] * np.sqrt(2.0 * np.pi))
        inner = (density * self.likelihood.cumulative(count[wide, None], at)) @ SHARES
        found[wide] = scipy.special.ndtr((low - m) / sd) + 0.5 * (high - low) * inner
        return np.clip(found, 0.0, 1.0)


def _mean_count(xp: Namespace[A], mean: A, variance: A) -> A:
    """The mean of a count whose log rate is N(mean, variance): see `log_of_mean`; at most the largest count."""
    return xp.minimum(xp.exp(xp.minimum(log_of_mean(xp, mean, variance), MAX_LOG_RATE)), MAX_COUNT)


class CountLikelihood(NumberLikelihood):
    """A likelihood of counts, whose latent is the log of a rate: `log_density`, `sites` and `moments` suffice."""

    targets: ClassVar[Targets] = "count"
    has_input_range: ClassVar[bool] = True
    max_latent_sd: ClassVar[float] = 30.0

    def cumulative(self, t: Array, f: Array) -> Array:
        """P(t' <= t | f) of counts t and latents f, which broadcast: the sum over all counts up to t."""
        t, f = np.broadcast_arrays(t, f)
        counts = np.arange(float(t.max(initial=0.0)) + 1.0)
        flat, latents, found = t.ravel(), f.ravel(), np.empty(t.size)
        step = max(1, CELLS // len(counts))
        for first in range(0, t.size, step):
            here = slice(first, first + step)
            each = np.exp(self.log_density(counts, latents[here, None], 1.0))
            found[here] = np.where(counts <= flat[here, None], each, 0.0).sum(axis=1)
        return found.reshape(t.shape)

    def predictive(self, latent: LatentGaussian, noise_sd: ForRows | None) -> CountPrediction:
        """Predictions of counts with an uncertain rate."""
        return CountPrediction.of(self, latent)


NEGLIGIBLE = 40.0
"""Nats below the greatest density of log g, g a gamma variable, beyond which it is neglected."""

STEPS = np.linspace(0.0, 1.0, 161)

Z = np.linspace(-8.5, 8.5, 69)
NODE_SHARES = np.exp(-0.5 * Z**2) / np.exp(-0.5 * Z**2).sum()


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
        answer[narrow] = scipy.special.gammaincc(shape[narrow, None], rates) @ NODE_SHARES
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
        """E = e^(f + v/2) = E Var(t | f), the mean bounded as in `_mean_count`, and E^2 (e^v - 1)."""
        rate = xp.exp(xp.minimum(mean + 0.5 * variance, MAX_LOG_RATE))
        steep = rate * xp.expm1(xp.minimum(variance, MAX_LOG_RATE))
        return _mean_count(xp, mean, variance), rate, rate * xp.minimum(steep, exp(MAX_LOG_RATE))

    def cumulative(self, t: Array, f: Array) -> Array:
        """P(g >= e^f), g ~ Gamma(t + 1)."""
        return np.asarray(scipy.special.gammaincc(t + 1.0, _rate(f)))

    def predictive(self, latent: LatentGaussian, noise_sd: ForRows | None) -> PoissonPrediction:
        """Predictions of counts with a log-normal rate."""
        return PoissonPrediction.of(self, latent)


def _rate(f: Array) -> Array:
    return np.exp(np.minimum(f, MAX_LOG_RATE))


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

        The mean is bounded as in `_mean_count`.
        """
        rate = xp.exp(xp.minimum(mean + 0.5 * variance, 0.5 * MAX_LOG_RATE))
        bounded = xp.minimum(variance, 0.5 * MAX_LOG_RATE)
        square = xp.square(rate)
        noise = rate + square * xp.exp(bounded) / self.shape_or_first
        return _mean_count(xp, mean, variance), noise, square * xp.expm1(bounded)
