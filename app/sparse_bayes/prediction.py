"""Predictive distributions of a model."""

from dataclasses import dataclass

from app.sparse_bayes.model import Model
from app.sparse_bayes.types import Array


@dataclass(frozen=True, eq=False)
class RealPrediction:
    """Gaussian predictions of N points, each (N,): mean, and the variance's two parts (noise, weights)."""

    mean: Array
    noise: Array
    weights: Array


@dataclass(frozen=True, eq=False)
class ClassPrediction:
    """Predictions of N points for two classes: probability (N,) of class 1 with the latent's variance integrated, the latent's mean and variance (N,)."""

    probability: Array
    latent_mean: Array
    latent_variance: Array


Prediction = RealPrediction | ClassPrediction


def predict(model: Model, X: Array) -> Prediction:
    """The predictive distribution at X (N, d) in the model's encoded units."""
    raise NotImplementedError
