"""Gaussian noise."""

from dataclasses import dataclass
from math import inf, log, pi
from statistics import NormalDist
from typing import ClassVar, Literal, Self

import numpy as np

from app.sparse_bayes.errors import ConstantTargetError
from app.sparse_bayes.likelihoods.predictive import Latent, NumberPrediction
from app.sparse_bayes.likelihoods.sites import Sites
from app.sparse_bayes.types import Array

LEAST_NOISE = 1e-6
"""The learned noise sd stops at this share of the targets' root mean square: without a floor a line without noise has
no greatest evidence."""


@dataclass(frozen=True, eq=False)
class RealPrediction(NumberPrediction):
    """Gaussian: N(mean, noise + weights + beyond)."""

    def quantile(self, probability: float) -> Array:
        """mean + z sd."""
        return self.mean + NormalDist().inv_cdf(probability) * np.sqrt(self.variance)

    def log_density(self, t: Array) -> Array:
        """log N(t; mean, variance)."""
        variance = self.variance
        return -0.5 * (np.log(2.0 * np.pi * variance) + (t - self.mean) ** 2 / variance)


@dataclass(frozen=True)
class GaussianNoise:
    """t_n = f_n + N(0, noise_sd^2), the noise learned by evidence or known, in the units of t [TIPPING2001, eq. 1]."""

    __pydantic_config__ = {"extra": "forbid"}

    noise_sd: Literal["learned"] | float = "learned"
    type: Literal["gaussian"] = "gaussian"

    conjugate: ClassVar[bool] = True
    constant_precision: ClassVar[bool] = True
    log_concave: ClassVar[bool] = True
    latents: ClassVar[int] = 1
    in_target_units: ClassVar[bool] = True
    greatest_latent_sd: ClassVar[float] = inf
    least_gain: ClassVar[float] = 2.0

    def check(self, t: Array) -> None:
        """Raise ConstantTargetError where there is no noise to learn from t (N,)."""
        if self.noise_sd == "learned" and np.all(t == t[0]):
            raise ConstantTargetError(f"expected targets that differ, all are {t[0]:g}")

    def working(self, t: Array) -> tuple[Array, float]:
        """The targets as they are."""
        return t, 0.0

    def start(self, t: Array) -> tuple[float, float]:
        """The noise precision beta to begin with, and its greatest value; the same where it is known."""
        if self.noise_sd != "learned":
            known = float(self.noise_sd) ** -2
            return known, known
        return noise_range(t)

    def first(self, t: Array, v: Array) -> tuple[Array, Array]:
        """Anywhere: its sites don't depend on the latent."""
        return np.zeros(len(t)), v

    def tuned(self, t: Array, f: Array, v: Array, beta: float) -> Self:
        """There is nothing but the noise to learn."""
        return self

    def noise(self, beta: float) -> float:
        """The noise sd that belongs to a precision."""
        return float(beta**-0.5) if self.noise_sd == "learned" else float(self.noise_sd)

    def log_density(self, t: Array, f: Array, beta: float) -> Array:
        """log p(t_n | f_n), (N,)."""
        return 0.5 * (log(beta / (2.0 * pi)) - beta * (t - f) ** 2)

    def sites(self, t: Array, f: Array, beta: float) -> tuple[Array, Array]:
        """Precision lam = beta and gradient g = beta (t - f), each (N,): exact, whatever f."""
        return np.full(len(t), beta), beta * (t - f)

    def expected(self, t: Array, f: Array, v: Array, beta: float) -> Sites:
        """ell = log N(t; f, 1/beta) - beta v/2: exact."""
        misfit = beta * ((t - f) ** 2 + v)
        value = 0.5 * (log(beta / (2.0 * pi)) - misfit)
        total = float(misfit.sum())
        return Sites(value, beta * (t - f), np.full(len(t), beta), 0.5 * (len(t) - total), -0.5 * total)

    def precision_slope(self, t: Array, f: Array) -> Array:
        """d lam / d f (N,): none."""
        return np.zeros(len(t))

    def predictive(self, latent: Latent, noise_sd: float | None) -> RealPrediction:
        """mean = p'mu, variance = 1/beta + p'Sigma p + c [TIPPING2001, eqs 21 and 22]."""
        noise = np.full(len(latent.mean), (noise_sd or 0.0) ** 2)
        return RealPrediction(latent.mean, noise, latent.weights, latent.beyond)


def noise_range(t: Array) -> tuple[float, float]:
    """The precision of noise as large as the targets t (N,), and that of the least noise."""
    square = float(np.mean(t**2)) or 1.0
    return 1.0 / square, 1.0 / (LEAST_NOISE**2 * square)
