"""Gaussian noise."""

from dataclasses import dataclass
from math import inf, log, pi
from typing import ClassVar, Literal

import numpy as np

from app.sparse_bayes.errors import ConstantTargetError
from app.sparse_bayes.likelihoods.sites import Sites
from app.sparse_bayes.types import Array

LEAST_NOISE = 1e-6
"""The learned noise sd stops at this share of the targets' root mean square: without a floor a line without noise has
no greatest evidence."""


@dataclass(frozen=True)
class GaussianNoise:
    """t_n = f_n + N(0, noise_sd^2), the noise learned by evidence or known, in the units of t [TIPPING2001, eq. 1]."""

    __pydantic_config__ = {"extra": "forbid"}

    noise_sd: Literal["learned"] | float = "learned"
    type: Literal["gaussian"] = "gaussian"

    constant_precision: ClassVar[bool] = True
    greatest_latent_sd: ClassVar[float] = inf
    least_gain: ClassVar[float] = 2.0

    def check(self, t: Array) -> None:
        """Raise ConstantTargetError where there is no noise to learn from t (N,)."""
        if self.noise_sd == "learned" and np.all(t == t[0]):
            raise ConstantTargetError(f"expected targets that differ, all are {t[0]:g}")

    def start(self, t: Array) -> tuple[float, float]:
        """The noise precision beta to begin with, and its greatest value; the same where it is known."""
        if self.noise_sd != "learned":
            known = float(self.noise_sd) ** -2
            return known, known
        square = float(np.mean(t**2))
        return 1.0 / square, 1.0 / (LEAST_NOISE**2 * square)

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
        return Sites(value, beta * (t - f), np.full(len(t), beta), 0.5 * (len(t) - float(misfit.sum())))

    def precision_slope(self, t: Array, f: Array) -> Array:
        """d lam / d f (N,): none."""
        return np.zeros(len(t))
