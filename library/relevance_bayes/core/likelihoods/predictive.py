"""The predictive distributions of likelihoods, from the latent at new points."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.types import Array


@dataclass(frozen=True, eq=False)
class Latent:
    """The latent at N points, N(mean, weights + residual), each (N,).

    `weights` is the variance by the uncertainty of the weights, `residual` that of the process outside the functions in
    the model, or of the augmenting function under an independent prior. `support` (N,), in [0, 1], is the share of the
    prior variance at a point that the data explain; None where that is not known.
    """

    mean: Array
    weights: Array
    residual: Array
    support: Array | None = None

    @property
    def variance(self) -> Array:
        """The sum of both parts, (N,)."""
        return self.weights + self.residual


@dataclass(frozen=True, eq=False)
class NumberPrediction(ABC):
    """Predictions of N numbers, each (N,): the mean, and the variance's three parts.

    `noise` is the variance of a new observation about the function; `weights` and `residual` follow from the two parts
    of the latent's variance.
    """

    mean: Array
    noise: Array
    weights: Array
    residual: Array

    @property
    def variance(self) -> Array:
        """The total variance, (N,)."""
        return self.noise + self.weights + self.residual

    @abstractmethod
    def quantile(self, probability: float) -> Array:
        """The quantile of a new observation at this probability, in (0, 1): (N,)."""

    def interval(self, probability: float) -> tuple[Array, Array]:
        """The central interval of this probability: two quantiles, each (N,)."""
        below = (1.0 - probability) / 2.0
        return self.quantile(below), self.quantile(1.0 - below)

    @abstractmethod
    def log_density(self, t: Array) -> Array:
        """Log density, or probability where t counts, of each target t (N,), in nats."""

    @abstractmethod
    def distribution(self, t: Array) -> tuple[Array, Array]:
        """The probabilities that a new observation is below t, and that it is not above t (N,): each (N,).

        They differ for counts only.
        """


@dataclass(frozen=True, eq=False)
class ClassPrediction:
    """Predictions of N points: `probabilities` (N, K) of the K classes, the latent's variance integrated.

    `latent_mean` and `latent_variance` are (N,) for two classes, of the latent of the second.
    """

    probabilities: Array
    latent_mean: Array
    latent_variance: Array

    @property
    def probability(self) -> Array:
        """The probability of the last class, which of two is class 1: (N,)."""
        return self.probabilities[:, -1]

    def log_density(self, t: Array) -> Array:
        """Log probability of each class t (N,), 0.0 to K - 1, in nats."""
        chosen = np.take_along_axis(self.probabilities, t.astype(np.intp)[:, None], axis=1)[:, 0]
        return np.log(np.maximum(chosen, np.finfo(float).tiny))


Prediction = NumberPrediction | ClassPrediction
