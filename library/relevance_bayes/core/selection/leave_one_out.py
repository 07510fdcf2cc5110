"""Closed-form leave-one-out: predictions of each row from all others, at the hyperparameters of all rows."""

from dataclasses import replace

import numpy as np

from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.folds import subset
from relevance_bayes.core.likelihoods import OneAgainstRest
from relevance_bayes.core.likelihoods.predictive import Latent
from relevance_bayes.core.linalg import factors_of_sum
from relevance_bayes.core.model import Model
from relevance_bayes.core.prediction import latent, prior_variance, scores, whitened
from relevance_bayes.core.selection.rows import Rows
from relevance_bayes.core.types import Array, ForRows

MAX_ROWS = 5_000
"""The most rows for a temperature; on more rows leverages are computed from the posterior covariance, by blocks."""

FIGURES = frozenset({"rmse", "nll", "coverage_95", "error", "log_loss"})


def leave_one_out(model: Model, rows: Rows, rho: float) -> dict[str, float]:
    """Leave-one-out scores of the N training rows; empty where sites depend on the latent, and for heteroscedastic
    noise.

    With h = lam p'Sigma p, lam = beta/(1 + rho beta c), the row's residual is r/(1 - h) and its variance
    1/beta + p'Sigma p/(1 - h) + c [THEORY 18]. Functions and hyperparameters were chosen with the row
    present, so that the figures are optimistic: they are reported, and decide nothing.
    """
    if not model.likelihood.is_conjugate or model.noise_sd is None or model.log_noise is not None:
        return {}
    without, noise_sd = _without(model, rows, rho)
    predicted = model.likelihood.predictive(without, noise_sd)
    return {name: score for name, score in scores(predicted, rows.t).items() if name in FIGURES}


def with_temperature(model: Model, rows: Rows) -> Model:
    """The model with the temperature of its leave-one-out predictions, where these have a closed form."""
    if not isinstance(model.likelihood, OneAgainstRest):
        return model
    some = rows.take(subset(rows.X, rows.t, MAX_ROWS, 0))
    return replace(model, likelihood=model.likelihood.with_temperature(some.t, *_without(model, some, 0.0)))


def _without(model: Model, rows: Rows, rho: float) -> tuple[Latent, ForRows]:
    """The latent at each row, learned from all others, and its noise."""
    targets, _ = model.likelihood.working(rows.t)
    noise_sd = model.noise_sd if rows.noise_sd is None else rows.noise_sd
    if noise_sd is None:
        raise SparseBayesError("expected a likelihood with noise")
    found = latent(model, rows.X)
    noise = np.square(noise_sd) + rho * found.residual
    left = _left(model, rows.X, noise) if _is_small(model, rows) else 1.0 - found.weights / noise
    # A row has at most the information on its latent that the prior leaves open.
    left = np.maximum(left, noise / (noise + prior_variance(model, rows.X)))
    return Latent(targets - ((targets - found.mean).T / left).T, found.weights / left, found.residual), noise_sd


def _is_small(model: Model, rows: Rows) -> bool:
    return model.mean.ndim == 1 and len(rows.t) <= MAX_ROWS


def _left(model: Model, X: Array, noise: Array) -> Array:
    """1 - h of rows (N,) whose noise has these variances (N,), to all digits.

    With Y = diag(noise)^-1/2 P A^-1/2, h_n = |q_n|^2 in the QR factorisation of [Y; I] by orthonormal columns. The
    posterior covariance has the same value, but with nearly no noise its rounding exceeds 1 - h.
    """
    columns, alpha = whitened(model, X)
    _, orthogonal = factors_of_sum(columns / np.sqrt(np.outer(noise, alpha)))
    return np.asarray(1.0 - np.vecdot(orthogonal, orthogonal))
