"""Two classes."""

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
import scipy

from app.sparse_bayes.errors import DataError, OneClassError
from app.sparse_bayes.likelihoods.predictive import ClassPrediction, Latent
from app.sparse_bayes.likelihoods.sites import Sites
from app.sparse_bayes.likelihoods.temperature import Temperature, temperature_of, tempered
from app.sparse_bayes.types import Array, ForRows

NODES = 40
"""Points of Gauss-Hermite quadrature for expectations under the Gaussian of a latent."""

POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(NODES)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


@dataclass(frozen=True)
class Bernoulli:
    """p(t = 1 | f) = 1/(1 + exp(-f)), t in {0, 1}, by Laplace's approximation [TIPPING1999, eqs 11 and 12; TIPPING2001,
    section 3; SCIENCE 2]. `temperature` is that of the probabilities: see `tempered`."""

    __pydantic_config__ = {"extra": "forbid"}

    temperature: Temperature = "learned"
    type: Literal["bernoulli"] = "bernoulli"

    conjugate: ClassVar[bool] = False
    noise_by_row: ClassVar[bool] = False
    constant_precision: ClassVar[bool] = False
    log_concave: ClassVar[bool] = True
    latents: ClassVar[int] = 1
    in_target_units: ClassVar[bool] = False
    greatest_latent_sd: ClassVar[float] = 100.0
    least_gain: ClassVar[float] = 1.0

    def check(self, t: Array) -> None:
        """Raise DataError unless t (N,) is 0 or 1, OneClassError unless both are there."""
        if not np.isin(t, (0.0, 1.0)).all():
            raise DataError("expected classes 0.0 and 1.0 as targets")
        if np.all(t == t[0]):
            raise OneClassError(f"expected rows of two classes, got only class {t[0]:g}")

    def working(self, t: Array) -> tuple[Array, float]:
        """The classes as they are."""
        return t, 0.0

    def start(self, t: Array) -> tuple[float, float]:
        """There is no noise to learn: 1 stands where a precision is asked for."""
        return 1.0, 1.0

    def first(self, t: Array, v: Array) -> tuple[Array, Array]:
        """Nothing explained yet."""
        return np.zeros(len(t)), v

    def tuned(self, t: Array, f: Array, v: Array, beta: ForRows) -> Self:
        """There is nothing to learn."""
        return self

    def noise(self, beta: ForRows) -> None:
        """There is none."""

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
        """ell, g = t - E sigma and lam = E sigma (1 - sigma) under N(f, v), by quadrature with NODES points."""
        latent = f[:, None] + np.sqrt(v)[:, None] * POINTS
        sigma = scipy.special.expit(latent)
        value = t * f - np.logaddexp(0.0, latent) @ WEIGHTS
        return Sites(value, t - sigma @ WEIGHTS, (sigma * scipy.special.expit(-latent)) @ WEIGHTS)

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
