"""Closed-form leave-one-out: how each row is predicted by all others, at the hyperparameters found with it."""

import numpy as np

from app.sparse_bayes.likelihoods.predictive import Latent
from app.sparse_bayes.model import Model
from app.sparse_bayes.prediction import latent, scores
from app.sparse_bayes.selection.rows import Rows

SURE = 1e-9
"""A row that determines its own fit to within this share says nothing of how it would be predicted without."""


TOLD = frozenset({"rmse", "nll", "coverage_95", "error", "log_loss"})


def leave_one_out(model: Model, rows: Rows, rho: float) -> dict[str, float]:
    """Scores of the N rows learned from, each without itself; empty where sites depend on the latent.

    With h = lam p'Sigma p, lam = beta/(1 + rho beta c), the row's residual is r/(1 - h) and its variance
    1/beta + p'Sigma p/(1 - h) + c [SPARSE_GP 7]. Functions and hyperparameters were chosen with the row present, which
    flatters: figures for a report, not for a choice.
    """
    if not model.likelihood.conjugate or model.noise_sd is None:
        return {}
    targets, _ = model.likelihood.working(rows.t)
    noise_sd = model.noise_sd if rows.noise_sd is None else rows.noise_sd
    found = latent(model, rows.X)
    left = np.maximum(1.0 - found.weights / (np.square(noise_sd) + rho * found.beyond), SURE)
    without = Latent(targets - ((targets - found.mean).T / left).T, found.weights / left, found.beyond)
    predicted = model.likelihood.predictive(without, noise_sd)
    return {name: score for name, score in scores(predicted, rows.t).items() if name in TOLD}
