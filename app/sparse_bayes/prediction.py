"""Predictive distributions of a model."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr

from app.sparse_bayes.basis import KernelFunctions, evaluate
from app.sparse_bayes.errors import DataError, SparseBayesError
from app.sparse_bayes.linalg import cholesky
from app.sparse_bayes.model import Model
from app.sparse_bayes.priors.gaussian_process import Whitening
from app.sparse_bayes.types import Array

BLOCK_BYTES = 8 * 2**20
"""Columns of the model at new points are computed so many bytes at a time."""


@dataclass(frozen=True, eq=False)
class RealPrediction:
    """Gaussian predictions of N points, each (N,): mean, and the variance's three parts.

    `noise`; `weights`, what is not known of the functions in the model; `beyond`, what these functions don't reach of
    the process that they are part of (0 under an independent prior).
    """

    mean: Array
    noise: Array
    weights: Array
    beyond: Array

    @property
    def variance(self) -> Array:
        """All of it, (N,)."""
        return self.noise + self.weights + self.beyond


@dataclass(frozen=True, eq=False)
class ClassPrediction:
    """Predictions of N points for two classes, each (N,).

    Probability of class 1 with the latent's variance integrated, the latent's mean and variance.
    """

    probability: Array
    latent_mean: Array
    latent_variance: Array


Prediction = RealPrediction | ClassPrediction


def predict(model: Model, X: Array) -> Prediction:
    """The predictive distribution at X (N, d) in the model's encoded units.

    mean = p'mu, variance = 1/beta + p'Sigma p [TIPPING2001, eqs 21 and 22]; for classes the sigmoid is integrated
    over the Gaussian of the latent function. Raises DataError.
    """
    if X.ndim != 2 or X.shape[1] != model.inputs:
        raise DataError(f"expected X (N, {model.inputs}), got shape {X.shape}")
    mean, variance, beyond = latent(model, X)
    if model.noise_sd is None:
        return ClassPrediction(integrated_sigmoid(mean, variance + beyond), mean, variance + beyond)
    return RealPrediction(mean, np.full(len(X), model.noise_sd**2), variance, beyond)


def latent(model: Model, X: Array) -> tuple[Array, Array, Array]:
    """Mean p'mu and variance p'Sigma p of the function at X (N, d), and c = s (1 - e'E_mm^-1 e), each (N,)."""
    mean, variance, beyond = np.empty(len(X)), np.empty(len(X)), np.zeros(len(X))
    whitening = _whitening(model)
    # |L'p|^2 can't fall below zero, as p'Sigma p can in floating point.
    # The scale keeps the Cholesky factor safe whatever the weights' units.
    scale = np.sqrt(model.covariance.diagonal())
    lower = scale[:, None] * cholesky(model.covariance / np.outer(scale, scale))
    for first, stop in _chunks(len(X), len(model.mean)):
        columns = evaluate(model.functions, X[first:stop])
        mean[first:stop] = columns @ model.mean
        spread = columns @ lower
        variance[first:stop] = np.einsum("nr,nr->n", spread, spread)
        if whitening is not None and model.amplitude is not None:
            reached = whitening.columns(columns[:, : len(whitening.lower)])
            beyond[first:stop] = model.amplitude * whitening.left(reached)
    return mean, variance, beyond


def _whitening(model: Model) -> Whitening | None:
    """That of the kernel functions, which stand first under a Gaussian process prior; None under another."""
    if model.amplitude is None:
        return None
    vectors, *_ = model.functions
    if not isinstance(vectors, KernelFunctions):
        raise SparseBayesError("expected the kernel functions of a process first")
    return Whitening.of(vectors(vectors.centres, np.arange(vectors.size)))


def _chunks(rows: int, functions: int) -> Iterator[tuple[int, int]]:
    step = max(1, BLOCK_BYTES // (8 * max(functions, 1)))
    return ((first, min(first + step, rows)) for first in range(0, rows, step))


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
    answer[narrow] = expit(mean[narrow, None] + sd[narrow, None] * z) @ (weights / weights.sum())
    y = np.linspace(-36.0, 36.0, 97)
    slopes = expit(y) * expit(-y)
    wide = ~narrow
    answer[wide] = ndtr((mean[wide, None] - y) / sd[wide, None]) @ (slopes / slopes.sum())
    return answer


def log_score(prediction: Prediction, t: Array) -> Array:
    """The predictive log density (or log probability) of each target t (N,), in nats."""
    if isinstance(prediction, ClassPrediction):
        chosen = np.where(t == 1.0, prediction.probability, 1.0 - prediction.probability)
        return np.log(np.maximum(chosen, np.finfo(float).tiny))
    variance = prediction.variance
    return -0.5 * (np.log(2.0 * np.pi * variance) + (t - prediction.mean) ** 2 / variance)


def scores(prediction: Prediction, t: Array) -> dict[str, float]:
    """Figures of predictions against what came, t (N,), in the units of t.

    Regression: rmse, mae, r2 (0 where t is constant), nll (mean, nats), coverage_95. Classes: error, log_loss (mean,
    nats), brier.
    """
    nll = -float(log_score(prediction, t).mean())
    if isinstance(prediction, ClassPrediction):
        wrong = (prediction.probability > 0.5) != (t == 1.0)
        brier = float(np.mean((prediction.probability - t) ** 2))
        return {"error": float(wrong.mean()), "log_loss": nll, "brier": brier}
    residual = t - prediction.mean
    half = NORMAL_95 * np.sqrt(prediction.variance)
    spread = float(np.var(t))
    return {
        "rmse": float(np.sqrt(np.mean(residual**2))),
        "mae": float(np.abs(residual).mean()),
        "r2": 1.0 - float(np.mean(residual**2)) / spread if spread > 0.0 else 0.0,
        "nll": nll,
        "coverage_95": float(np.mean(np.abs(residual) <= half)),
    }


NORMAL_95 = 1.959963984540054
"""Standard normal quantile of 0.975."""
