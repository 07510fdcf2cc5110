"""Counts."""

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
import scipy

from app.sparse_bayes.errors import ConstantTargetError, DataError
from app.sparse_bayes.likelihoods.predictive import Latent, NumberPrediction
from app.sparse_bayes.likelihoods.sites import Sites
from app.sparse_bayes.types import Array, ForRows

GREATEST_LOG_RATE = 300.0
"""No rate is computed beyond its exponential, so that nothing overflows."""

LARGEST_COUNT = 2.0**53
"""Up to here every whole number is a float64."""

NEGLIGIBLE = 40.0
"""Nats below the greatest density of log g, g a gamma variable, beyond which nothing is left of it."""

STEPS = np.linspace(0.0, 1.0, 161)

Z = np.linspace(-8.5, 8.5, 69)
SHARES = np.exp(-0.5 * Z**2) / np.exp(-0.5 * Z**2).sum()

POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
LOG_WEIGHTS = np.log(WEIGHTS) + 0.5 * POINTS**2

MOST_NEWTON_STEPS = 100


@dataclass(frozen=True, eq=False)
class CountPrediction(NumberPrediction):
    """Poisson with a log-normal rate, whose logarithm is `latent`."""

    latent: Latent

    @classmethod
    def of(cls, latent: Latent) -> "CountPrediction":
        """E = exp(f + v/2) = E Var(t | f), Var E(t | f) = E^2 (e^v - 1), shared between weights and beyond as v is."""
        v = latent.variance
        mean = np.exp(np.minimum(latent.mean + 0.5 * v, GREATEST_LOG_RATE))
        function = mean * np.minimum(mean * np.expm1(np.minimum(v, GREATEST_LOG_RATE)), np.exp(GREATEST_LOG_RATE))
        share = np.divide(latent.beyond, v, out=np.zeros_like(v), where=v > 0.0)
        return cls(mean, mean, (1.0 - share) * function, share * function, latent)

    def quantile(self, probability: float) -> Array:
        """The least count that is not exceeded with this probability: by bisection between Chebyshev's bounds."""
        sd = np.sqrt(self.variance)
        low = np.maximum(np.floor(self.mean - sd / probability**0.5) - 1.0, -1.0)
        high = np.minimum(np.ceil(self.mean + sd / (1.0 - probability) ** 0.5), LARGEST_COUNT)
        while (high - low > 1.0).any():
            middle = np.ceil(0.5 * (low + high))
            reached = self._not_above(middle) >= probability
            high, low = np.where(reached, middle, high), np.where(reached, low, middle)
            low = np.minimum(low, high - 1.0)
        return np.asarray(high)

    def log_density(self, t: Array) -> Array:
        """log p(t): Gauss-Hermite quadrature about the mode of p(t | f) N(f); minus infinity where t is no count."""
        counts = np.maximum(np.round(t), 0.0)
        m, v = self.latent.mean, np.maximum(self.latent.variance, 1e-12)
        f = np.minimum(m, np.log(counts + 1.0))
        for _ in range(MOST_NEWTON_STEPS):
            rate = np.exp(np.minimum(f, GREATEST_LOG_RATE))
            step = np.clip((counts - rate - (f - m) / v) / (rate + 1.0 / v), -1.0, 1.0)
            f = f + step
            if np.all(np.abs(step) < 1e-10):
                break
        sd = (np.exp(np.minimum(f, GREATEST_LOG_RATE)) + 1.0 / v) ** -0.5
        latent = f[:, None] + sd[:, None] * POINTS
        exponents = (
            counts[:, None] * latent
            - np.exp(np.minimum(latent, GREATEST_LOG_RATE))
            - 0.5 * (latent - m[:, None]) ** 2 / v[:, None]
            + LOG_WEIGHTS
        )
        greatest = exponents.max(axis=1)
        total = greatest + np.log(np.exp(exponents - greatest[:, None]).sum(axis=1))
        value = total + np.log(sd) - 0.5 * np.log(2.0 * np.pi * v) - scipy.special.gammaln(counts + 1.0)
        return np.where(counts == t, value, -np.inf)

    def distribution(self, t: Array) -> tuple[Array, Array]:
        """P(t - 1) and P(t) of the whole numbers about t, 0 below all counts."""
        counts = np.stack([np.ceil(t) - 1.0, np.floor(t)])
        below, upto = (np.where(each < 0.0, 0.0, self._not_above(np.maximum(each, 0.0))) for each in counts)
        return below, upto

    def _not_above(self, count: Array) -> Array:
        """P(t <= count), (N,).

        P(t <= k | f) = P(g >= e^f), g ~ Gamma(k + 1): integrated over f where f is known better than log g, else over
        log g, so that what is integrated is always wider than the step.
        """
        m, sd, shape = self.latent.mean, np.sqrt(self.latent.variance), count + 1.0
        answer = np.empty(len(m))
        narrow = sd * np.sqrt(shape) < 1.0
        rates = np.exp(np.minimum(m[narrow, None] + sd[narrow, None] * Z, GREATEST_LOG_RATE))
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
class Poisson:
    """t ~ Poisson(e^f): counts, of whose rate the latent is the logarithm.

    E e^f under N(f, v) is e^(f + v/2), so that all that is expected has a closed form.
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["poisson"] = "poisson"

    conjugate: ClassVar[bool] = False
    noise_by_row: ClassVar[bool] = False
    constant_precision: ClassVar[bool] = False
    log_concave: ClassVar[bool] = True
    latents: ClassVar[int] = 1
    in_target_units: ClassVar[bool] = False
    greatest_latent_sd: ClassVar[float] = 30.0
    least_gain: ClassVar[float] = 1.0

    def check(self, t: Array) -> None:
        """Raise DataError unless t (N,) are whole numbers from 0, and not all 0."""
        if not (t >= 0.0).all() or not np.array_equal(t, np.round(t)):
            raise DataError("expected counts as targets: whole numbers from 0")
        if not t.any():
            raise ConstantTargetError("expected some counts above 0, all are 0")

    def working(self, t: Array) -> tuple[Array, float]:
        """The counts as they are."""
        return t, 0.0

    def start(self, t: Array) -> tuple[float, float]:
        """There is no noise to learn: 1 stands where a precision is asked for."""
        return 1.0, 1.0

    def first(self, t: Array, v: Array) -> tuple[Array, Array]:
        """The counts' own logarithms: from 0 the first step would lead far beyond them."""
        return np.log(t + 0.5), np.zeros(len(t))

    def tuned(self, t: Array, f: Array, v: Array, beta: ForRows) -> Self:
        """There is nothing to learn."""
        return self

    def noise(self, beta: ForRows) -> None:
        """There is none."""

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

    def predictive(self, latent: Latent, noise_sd: ForRows | None) -> CountPrediction:
        """Counts whose rate is log-normal."""
        return CountPrediction.of(latent)


def _rate(f: Array) -> Array:
    return np.exp(np.minimum(f, GREATEST_LOG_RATE))
