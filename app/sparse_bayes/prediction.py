"""Predictive distributions of a model."""

from collections.abc import Iterator

import numpy as np

from app.sparse_bayes.basis import KernelFunctions, evaluate
from app.sparse_bayes.errors import DataError, SparseBayesError
from app.sparse_bayes.likelihoods.gaussian import RealPrediction
from app.sparse_bayes.likelihoods.predictive import ClassPrediction, Latent, NumberPrediction, Prediction
from app.sparse_bayes.linalg import cholesky
from app.sparse_bayes.model import Model
from app.sparse_bayes.priors.gaussian_process import Whitening
from app.sparse_bayes.types import Array

__all__ = [
    "ClassPrediction",
    "Latent",
    "NumberPrediction",
    "Prediction",
    "RealPrediction",
    "latent",
    "predict",
    "scores",
]

BLOCK_BYTES = 8 * 2**20
"""Columns of the model at new points are computed so many bytes at a time."""


def predict(model: Model, X: Array) -> Prediction:
    """The predictive distribution at X (N, d) in the model's encoded units: what the likelihood makes of the latent.

    Raises DataError.
    """
    if X.ndim != 2 or X.shape[1] != model.inputs:
        raise DataError(f"expected X (N, {model.inputs}), got shape {X.shape}")
    return model.likelihood.predictive(latent(model, X), model.noise_sd)


def latent(model: Model, X: Array) -> Latent:
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
    return Latent(mean, variance, beyond)


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


def scores(prediction: Prediction, t: Array) -> dict[str, float]:
    """Figures of predictions against what came, t (N,), in the units of t.

    Numbers: rmse, mae, r2 (0 where t is constant), nll (mean, nats), coverage_95. Classes: error, log_loss (mean,
    nats), brier (half of the squared distances from certainty, which for two classes is that of one of them).
    """
    nll = -float(prediction.log_density(t).mean())
    if isinstance(prediction, ClassPrediction):
        probabilities, labels = prediction.probabilities, t.astype(np.intp)
        certain = np.eye(probabilities.shape[1])[labels]
        brier = 0.5 * float(np.square(probabilities - certain).sum(axis=1).mean())
        return {"error": float((probabilities.argmax(axis=1) != labels).mean()), "log_loss": nll, "brier": brier}
    residual = t - prediction.mean
    spread = float(np.var(t))
    inside = (prediction.quantile(0.025) <= t) & (t <= prediction.quantile(0.975))
    return {
        "rmse": float(np.sqrt(np.mean(residual**2))),
        "mae": float(np.abs(residual).mean()),
        "r2": 1.0 - float(np.mean(residual**2)) / spread if spread > 0.0 else 0.0,
        "nll": nll,
        "coverage_95": float(inside.mean()),
    }
