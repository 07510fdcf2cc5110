"""Likelihoods of counts, and their predictions by quadrature."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import scipy

from relevance_bayes.core.likelihoods.base import (
    POINTS,
    WEIGHTS,
    LatentGaussian,
    NumberLikelihood,
    NumberPrediction,
    Targets,
    log_of_mean,
)
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


def mean_count(xp: Namespace[A], mean: A, variance: A) -> A:
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
