"""A nearest-neighbour process held against simpler models on rows kept apart, before it is believed [THEORY 22]."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.local.learning import LocalTask, Scored
from relevance_bayes.core.types import Array

Refusal = Literal["no better than a linear model", "no better than noise", "predicted variances do not hold"]

MAX_FACTOR = 3.0
"""Squared errors may be so many times, or one so-manieth of, the variances predicted; beyond that the scales are not to
be believed, and one factor mends nothing."""

NORMAL_95 = 1.959963984540054
"""Standard deviations on either side that hold 95 % of a normal distribution."""


@dataclass(frozen=True, eq=False)
class Validation:
    """What `rows` kept apart say: mean log densities in nats a row, of the process, a linear model and noise alone.

    `variance_factor` is the mean of squared errors over the variances predicted, which these are multiplied by;
    `coverage` the share of targets in the intervals of 95 % after it. `refusal` is None where the process may be used.
    """

    rows: int
    score: float
    linear: float
    noise: float
    variance_factor: float
    coverage: float
    refusal: Refusal | None


def validated(task: LocalTask, found: Scored) -> tuple[Hyperparameters, Validation]:
    """The hyperparameters with variances multiplied by the factor that scores best on rows kept apart, and their score.

    The factor is the same for signal, columns and noise, so that means do not change; where the noise is known, it is
    reported alone.
    """
    h = found.hyperparameters
    t = task.rows.t[task.learned :]
    met = task.held_out(found.kernel, h, task.neighbours)
    squares = np.square(t - met.mean) / met.variance
    factor = float(squares.mean())
    applied = factor if task.space(found.kernel).free(h)[0] else 1.0
    met = replace(met, variance=applied * met.variance)
    h = replace(h, beta=h.beta / applied, amplitude=h.amplitude * applied, alpha=h.alpha / applied)
    score = float(met.log_density(t).mean())
    coverage = float(np.mean(squares <= applied * NORMAL_95**2))
    linear, noise = _linear(task, task.rows.X), _linear(task, task.rows.X[:, :0])
    refusal: Refusal | None = None
    if score <= noise:
        refusal = "no better than noise"
    elif score <= linear:
        refusal = "no better than a linear model"
    elif not 1.0 / MAX_FACTOR <= factor <= MAX_FACTOR:
        refusal = "predicted variances do not hold"
    return h, Validation(len(t), score, linear, noise, factor, coverage, refusal)


def _linear(task: LocalTask, X: Array) -> float:
    """The mean log density of the rows kept apart by least squares in X (N, k) and a constant, of normal errors."""
    n, t = task.learned, task.rows.t
    P = np.column_stack([np.ones(len(X)), X])
    w, _, _, _ = np.linalg.lstsq(P[:n], t[:n], rcond=None)
    errors = t - P @ w
    variance = max(float(np.mean(np.square(errors[:n]))), np.finfo(np.float64).tiny)
    return float(np.mean(-0.5 * (np.log(2.0 * np.pi * variance) + np.square(errors[n:]) / variance)))
