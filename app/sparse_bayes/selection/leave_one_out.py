"""Closed-form leave-one-out: how each row is predicted by all others, at the hyperparameters found with it."""

from dataclasses import replace

import numpy as np

from app.sparse_bayes.errors import SparseBayesError
from app.sparse_bayes.folds import subset
from app.sparse_bayes.likelihoods import Sharpened
from app.sparse_bayes.likelihoods.predictive import Latent
from app.sparse_bayes.model import Model
from app.sparse_bayes.prediction import latent, scores
from app.sparse_bayes.selection.rows import Rows
from app.sparse_bayes.types import ForRows

SURE = 1e-9
"""A row that determines its own fit to within this share says nothing of how it would be predicted without."""


MOST_ROWS = 5_000
"""So many rows are enough for one number."""

TOLD = frozenset({"rmse", "nll", "coverage_95", "error", "log_loss"})


def leave_one_out(model: Model, rows: Rows, rho: float) -> dict[str, float]:
    """Scores of the N rows learned from, each without itself; empty where sites depend on the latent, and where
    the noise is a function of the inputs, which each row had its part in.

    With h = lam p'Sigma p, lam = beta/(1 + rho beta c), the row's residual is r/(1 - h) and its variance
    1/beta + p'Sigma p/(1 - h) + c [SPARSE_GP 7]. Functions and hyperparameters were chosen with the row present, which
    flatters: figures for a report, not for a choice.
    """
    if not model.likelihood.conjugate or model.noise_sd is None or model.log_noise is not None:
        return {}
    without, noise_sd = _without(model, rows, rho)
    predicted = model.likelihood.predictive(without, noise_sd)
    return {name: score for name, score in scores(predicted, rows.t).items() if name in TOLD}


def sharpened(model: Model, rows: Rows) -> Model:
    """With what of the likelihood only rows predicted without themselves can say."""
    if not isinstance(model.likelihood, Sharpened):
        return model
    some = rows.take(subset(rows.X, rows.t, MOST_ROWS, 0))
    return replace(model, likelihood=model.likelihood.sharpened(some.t, *_without(model, some, 0.0)))


def _without(model: Model, rows: Rows, rho: float) -> tuple[Latent, ForRows]:
    """The latent at each row, learned without it, and its noise."""
    targets, _ = model.likelihood.working(rows.t)
    noise_sd = model.noise_sd if rows.noise_sd is None else rows.noise_sd
    if noise_sd is None:
        raise SparseBayesError("expected a likelihood with noise")
    found = latent(model, rows.X)
    left = np.maximum(1.0 - found.weights / (np.square(noise_sd) + rho * found.beyond), SURE)
    return Latent(targets - ((targets - found.mean).T / left).T, found.weights / left, found.beyond), noise_sd
