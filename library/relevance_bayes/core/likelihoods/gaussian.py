"""Gaussian noise."""

from dataclasses import dataclass
from functools import lru_cache
from math import lgamma, log, pi
from statistics import NormalDist
from typing import ClassVar, Literal, Self

import numpy as np
import scipy

from relevance_bayes.core.errors import ConstantTargetError
from relevance_bayes.core.likelihoods.base import LatentGaussian, NumberLikelihood, NumberPrediction, Sites, Targets
from relevance_bayes.core.tracing import A, Namespace
from relevance_bayes.core.types import Array, ForRows

MIN_NOISE = 1e-6
"""The least noise sd as a share of the targets' root mean square: the evidence of noise-free data has no maximum
without a bound."""


@dataclass(frozen=True, eq=False)
class RealPrediction(NumberPrediction):
    """Gaussian: N(mean, variance), variance = noise + weights + residual; or Student's t [THEORY 23].

    With `degrees_of_freedom` nu, since few rows determine the noise variance, it is the t of this mean and the squared
    scale `variance`, which stays finite for nu <= 2, where the t's own variance does not.
    """

    degrees_of_freedom: float | None = None

    def integrated(self, factor: float, degrees_of_freedom: float) -> Self:
        """With these degrees of freedom, and all parts of the variance times `factor`."""
        noise, weights, residual = factor * self.noise, factor * self.weights, factor * self.residual
        return type(self)(self.mean, noise, weights, residual, degrees_of_freedom)

    def quantile(self, probability: float) -> Array:
        """mean + z scale, z the standard quantile."""
        return self.mean + standard_quantile(probability, self.degrees_of_freedom) * np.sqrt(self.variance)

    def interval(self, probability: float) -> tuple[Array, Array]:
        """mean -+ z scale, with one computation of the scale."""
        (below, above), scale = standard_ends(probability, self.degrees_of_freedom), np.sqrt(self.variance)
        return self.mean + below * scale, self.mean + above * scale

    def log_density(self, t: Array) -> Array:
        """log N(t; mean, variance), or log T(t; mean, variance, nu)."""
        variance, nu = self.variance, self.degrees_of_freedom
        if nu is None:
            return -0.5 * (np.log(2.0 * np.pi * variance) + (t - self.mean) ** 2 / variance)
        z = (t - self.mean) / np.sqrt(variance)
        constant = lgamma(0.5 * (nu + 1.0)) - lgamma(0.5 * nu) - 0.5 * log(nu * pi)
        return np.asarray(constant - 0.5 * np.log(variance) - (nu + 1.0) * np.log(np.hypot(1.0, z / nu**0.5)))

    def distribution(self, t: Array) -> tuple[Array, Array]:
        """That of the standard normal, or t, at (t - mean)/scale."""
        z, nu = (t - self.mean) / np.sqrt(self.variance), self.degrees_of_freedom
        upto = np.asarray(scipy.special.ndtr(z) if nu is None else scipy.special.stdtr(nu, z), np.float64)
        return upto, upto


@dataclass(frozen=True)
class GaussianNoise(NumberLikelihood):
    """t_n = f_n + N(0, noise_sd^2), the noise learned by evidence or known, in the units of t [TIPPING2001, eq. 1].

    "rows": the noise of each row is known and given with the row; beta, the factor of all precisions, is 1 then.
    "heteroscedastic": a second function of the inputs is its log variance; both are learned by alternating fits.
    """

    noise_sd: Literal["learned", "rows", "heteroscedastic"] | float = "learned"
    type: Literal["gaussian"] = "gaussian"

    targets: ClassVar[Targets] = "real"
    is_conjugate: ClassVar[bool] = True
    has_constant_precision: ClassVar[bool] = True
    is_log_concave: ClassVar[bool] = True
    has_target_units: ClassVar[bool] = True
    min_gain: ClassVar[float] = 2.0

    @property
    def noise_by_row(self) -> bool:
        """True where each row has its own."""
        return self.noise_sd == "rows"

    def check(self, t: Array) -> None:
        """Raise ConstantTargetError where there is no noise to learn from t (N,)."""
        if self.noise_sd in {"learned", "heteroscedastic"} and np.all(t == t[0]):
            raise ConstantTargetError(f"expected targets that differ, all are {t[0]:g}")

    def start(self, t: Array) -> tuple[float, float]:
        """The noise precision beta to begin with, and its greatest value; the same where it is known."""
        match self.noise_sd:
            case "learned":
                return noise_range(t)
            case "rows" | "heteroscedastic":
                return 1.0, 1.0
            case known:
                return float(known) ** -2, float(known) ** -2

    def noise(self, beta: ForRows) -> float:
        """The noise sd that belongs to a precision; of rows that have their own, their root mean square."""
        return noise_sd_of(beta) if isinstance(self.noise_sd, str) else float(self.noise_sd)

    def log_density(self, t: Array, f: Array, beta: ForRows) -> Array:
        """log p(t_n | f_n), (N,)."""
        return 0.5 * (np.log(beta / (2.0 * pi)) - beta * (t - f) ** 2)

    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """Precision lam = beta and gradient g = beta (t - f), each (N,): exact for any f."""
        return np.full(len(t), beta), beta * (t - f)

    def expected(self, t: Array, f: Array, v: Array, beta: ForRows) -> Sites:
        """ell = log N(t; f, 1/beta) - beta v/2: exact."""
        residual_squares = beta * ((t - f) ** 2 + v)
        value = 0.5 * (np.log(beta / (2.0 * pi)) - residual_squares)
        total = float(residual_squares.sum())
        return Sites(value, beta * (t - f), np.full(len(t), beta), 0.5 * (len(t) - total), -0.5 * total)

    def moments(self, xp: Namespace[A], mean: A, variance: A, noise: A) -> tuple[A, A, A]:
        """The latent's mean, the noise's variance and the latent's."""
        return mean, noise, variance

    def ends(self, xp: Namespace[A], mean: A, variance: A, noise: A, z: float) -> tuple[A, A]:
        """mean -+ z sd."""
        reach = z * xp.sqrt(noise + variance)
        return mean - reach, mean + reach

    def predictive(self, latent: LatentGaussian, noise_sd: ForRows | None) -> RealPrediction:
        """mean = p'mu, variance = 1/beta + p'Sigma p + c [TIPPING2001, eqs 21 and 22]."""
        sd = 0.0 if noise_sd is None else noise_sd
        noise = np.empty(len(latent.mean))
        noise[:] = sd * sd
        return RealPrediction(latent.mean, noise, latent.weights, latent.residual)


def standard_quantile(probability: float, degrees_of_freedom: float | None = None) -> float:
    """The quantile of the standard normal distribution, or of the standard t distribution with `degrees_of_freedom`.

    That of t above 1/2 is minus the one as far below, so that both have the same digits.
    """
    if degrees_of_freedom is None:
        return NormalDist().inv_cdf(probability)
    if probability > 0.5:
        return -float(scipy.special.stdtrit(degrees_of_freedom, 1.0 - probability))
    return float(scipy.special.stdtrit(degrees_of_freedom, probability))


@lru_cache(maxsize=100)
def standard_ends(probability: float, degrees_of_freedom: float | None = None) -> tuple[float, float]:
    """Both ends of the central interval of this probability, of the distribution of `standard_quantile`."""
    below = (1.0 - probability) / 2.0
    return standard_quantile(below, degrees_of_freedom), standard_quantile(1.0 - below, degrees_of_freedom)


def noise_range(t: Array) -> tuple[float, float]:
    """The precision of noise as large as the targets t (N,), and that of the least noise."""
    square = float(np.mean(t**2)) or 1.0
    return 1.0 / square, 1.0 / (MIN_NOISE**2 * square)


def noise_sd_of(beta: ForRows) -> float:
    """The sd that belongs to a noise precision; of one for each row (N,), their root mean square."""
    return float(np.mean(1.0 / np.asarray(beta)) ** 0.5)
