"""Two classes."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import scipy

from app.sparse_bayes.errors import DataError, OneClassError
from app.sparse_bayes.likelihoods.base import POINTS, WEIGHTS, LikelihoodBase, Targets
from app.sparse_bayes.likelihoods.predictive import ClassPrediction, Latent
from app.sparse_bayes.likelihoods.sites import Sites
from app.sparse_bayes.likelihoods.temperature import Temperature, temperature_of, tempered
from app.sparse_bayes.types import Array, ForRows


@dataclass(frozen=True)
class Bernoulli(LikelihoodBase):
    """p(t = 1 | f) = 1/(1 + exp(-f)), t in {0, 1}, by Laplace's approximation [TIPPING1999, eqs 11 and 12; TIPPING2001,
    section 3; SCIENCE 2]. `temperature` is that of the probabilities: see `tempered`."""

    temperature: Temperature = "learned"
    type: Literal["bernoulli"] = "bernoulli"

    targets: ClassVar[Targets] = "class"
    log_concave: ClassVar[bool] = True
    greatest_latent_sd: ClassVar[float] = 100.0
    least_gain: ClassVar[float] = 0.1

    def check(self, t: Array) -> None:
        """Raise DataError unless t (N,) is 0 or 1, OneClassError unless both are there."""
        if not np.isin(t, (0.0, 1.0)).all():
            raise DataError("expected classes 0.0 and 1.0 as targets")
        if np.all(t == t[0]):
            raise OneClassError(f"expected rows of two classes, got only class {t[0]:g}")

    def log_density(self, t: Array, f: Array, beta: ForRows) -> Array:
        """log p(t_n | f_n), (N,)."""
        return t * f - np.logaddexp(0.0, f)

    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """lam = sigma(f)(1 - sigma(f)) and g = t - sigma(f), each (N,).

        Minus the second and the first derivative of log p.
        """
        sigma = scipy.special.expit(f)
        return sigma * scipy.special.expit(-f), t - sigma

    def expected(self, t: Array, f: Array, v: Array, beta: ForRows) -> Sites:
        """ell, g = t - E sigma and lam = E sigma (1 - sigma) under N(f, v), each (N,)."""
        softplus, sigma, slope = expected_softplus(f, v)
        return Sites(t * f - softplus, t - sigma, slope)

    def precision_slope(self, t: Array, f: Array) -> Array:
        """d lam / d f = sigma (1 - sigma)(1 - 2 sigma), (N,)."""
        sigma = scipy.special.expit(f)
        return sigma * scipy.special.expit(-f) * (1.0 - 2.0 * sigma)

    def predictive(self, latent: Latent, noise_sd: ForRows | None) -> ClassPrediction:
        """The sigmoid integrated over the Gaussian of the latent, at its temperature."""
        variance = latent.variance
        probability = integrated_sigmoid(latent.mean, variance)
        # What is left of 1 has lost its digits where a temperature would bring them back.
        other = 1.0 - probability if self.is_untempered else integrated_sigmoid(-latent.mean, variance)
        probabilities = tempered(np.column_stack([other, probability]), self.temperature)
        return ClassPrediction(probabilities, latent.mean, variance)

    @property
    def is_untempered(self) -> bool:
        """Whether the temperature is 1."""
        return temperature_of(self.temperature) == 1.0


NARROW = 3.0
"""Latent sd up to which the Gaussian is integrated by its own variable, above by the sigmoid's."""

WIDE = 1.6
"""Latent sd above which Gauss-Hermite quadrature is off by more than 1e-9."""

SIGMOID_POINTS = np.linspace(-21.0, 21.0, 49)
SIGMOID_WEIGHTS = 1.0 / (4.0 * np.cosh(0.5 * SIGMOID_POINTS) ** 2)
SIGMOID_WEIGHTS = SIGMOID_WEIGHTS / SIGMOID_WEIGHTS.sum()
"""The trapezoidal rule in the sigmoid's variable: points and shares of its slope, to about 5e-8."""


def expected_softplus(mean: Array, variance: Array) -> tuple[Array, Array, Array]:
    """The expectations of log(1 + e^f), sigma(f) and sigma(f)(1 - sigma(f)) under N(mean, variance), each (N,).

    Narrow Gaussians by Gauss-Hermite quadrature with NODES points. In wide ones its points are farther apart than the
    sigmoid is wide: there log(1 + e^f) is a sum of (f - y)_+ over points y of the sigmoid's slope, whose expectations
    are closed, so that each is the exact derivative of the one before it.
    """
    sd = np.sqrt(variance)
    wide = sd > WIDE
    if not wide.any():
        return _narrow_softplus(mean, sd)
    found = np.empty((3, len(mean)))
    found[:, ~wide] = _narrow_softplus(mean[~wide], sd[~wide])
    found[:, wide] = _wide_softplus(mean[wide], sd[wide])
    return found[0], found[1], found[2]


def _narrow_softplus(mean: Array, sd: Array) -> tuple[Array, Array, Array]:
    latent = mean[:, None] + sd[:, None] * POINTS
    small = np.exp(-np.abs(latent))
    upper = 1.0 / (1.0 + small)
    lower = small * upper
    sigma = np.where(latent > 0.0, upper, lower)
    softplus = np.log1p(small) + np.maximum(latent, 0.0)
    return softplus @ WEIGHTS, sigma @ WEIGHTS, (upper * lower) @ WEIGHTS


def _wide_softplus(mean: Array, sd: Array) -> tuple[Array, Array, Array]:
    off = (mean[:, None] - SIGMOID_POINTS) / sd[:, None]
    below, density = scipy.special.ndtr(off), np.exp(-0.5 * np.square(off)) / np.sqrt(2.0 * np.pi)
    return (
        sd * ((off * below + density) @ SIGMOID_WEIGHTS),
        below @ SIGMOID_WEIGHTS,
        (density @ SIGMOID_WEIGHTS) / sd,
    )


def integrated_sigmoid(mean: Array, variance: Array) -> Array:
    """The integral of sigma(f) N(f; mean, variance) over f, (N,), to about 1e-11.

    The trapezoidal rule converges geometrically for functions that are analytic in a strip: in the Gaussian's
    variable the sigmoid's poles lie at a distance of pi/sd, in the sigmoid's own variable at pi. Each is used where
    its strip is wide.
    """
    sd = np.sqrt(variance)
    answer = np.empty(len(mean))
    narrow = sd <= NARROW
    z = np.linspace(-8.5, 8.5, 69)
    weights = np.exp(-0.5 * z**2)
    answer[narrow] = scipy.special.expit(mean[narrow, None] + sd[narrow, None] * z) @ (weights / weights.sum())
    y = np.linspace(-36.0, 36.0, 97)
    slopes = scipy.special.expit(y) * scipy.special.expit(-y)
    wide = ~narrow
    answer[wide] = scipy.special.ndtr((mean[wide, None] - y) / sd[wide, None]) @ (slopes / slopes.sum())
    return answer
