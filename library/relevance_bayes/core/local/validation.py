"""The validation of a nearest-neighbour process against simpler models on held-out rows [THEORY 22]."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.local.learning import LocalTask, ScoredKernel
from relevance_bayes.core.local.likelihood import Conditionals
from relevance_bayes.core.types import Array

Refusal = Literal["no better than a linear model", "no better than noise", "predicted variances do not hold"]

MAX_FACTOR = 3.0
"""The largest ratio of mean squared error and predicted variance, either way: beyond it the scales are wrong, and one
factor does not correct them."""

NORMAL_95 = 1.959963984540054
"""Standard deviations on either side that hold 95 % of a normal distribution."""


@dataclass(frozen=True, eq=False)
class ValidatedProcess:
    """A process measured on held-out rows: their predictions `predicted` in the task's order, and the
    `hyperparameters`.

    `linear` and `noise` are the mean log densities, in nats a row, of a linear model and of noise alone.
    `variance_factor` is the mean of squared errors over predicted variances, by which these were multiplied where the
    noise is learned. `refusal` is None where the process may be used: it scores better than both by more than the
    standard error of the difference, and the factor is near 1.
    """

    predicted: Conditionals
    hyperparameters: Hyperparameters
    linear: float
    noise: float
    variance_factor: float
    refusal: Refusal | None

    @property
    def rows(self) -> int:
        """The number of held-out rows."""
        return len(self.predicted.t)

    @property
    def score(self) -> float:
        """The mean log density of the process."""
        return float(self.predicted.bounded_log_density.mean())

    @property
    def coverage(self) -> float:
        """The share of the targets in their intervals of 95 %."""
        return float(np.mean(self.predicted.squares <= NORMAL_95**2))


def validated(task: LocalTask, found: ScoredKernel) -> ValidatedProcess:
    """Measure a process on the held-out rows, with its variances multiplied by the factor of the best score there.

    The factor is the same for signal, columns and noise, so that means do not change; where the noise is known, it is
    reported but not applied.
    """
    h = found.hyperparameters
    held_out = task.held_out(found.kernel, h, task.neighbours)
    factor = float(held_out.squares.mean())
    applied = factor if task.space(found.kernel).free(h)[0] else 1.0
    held_out = replace(held_out, variance=applied * held_out.variance)
    h = replace(h, beta=h.beta / applied, signal_variance=h.signal_variance * applied, alpha=h.alpha / applied)
    own, linear, noise = held_out.bounded_log_density, _linear(task, task.rows.X), _linear(task, task.rows.X[:, :0])
    refusal: Refusal | None = None
    if not _is_better(own, noise):
        refusal = "no better than noise"
    elif not _is_better(own, linear):
        refusal = "no better than a linear model"
    elif not 1.0 / MAX_FACTOR <= factor <= MAX_FACTOR:
        refusal = "predicted variances do not hold"
    return ValidatedProcess(held_out, h, float(linear.mean()), float(noise.mean()), factor, refusal)


def _is_better(own: Array, other: Array) -> bool:
    """True where the mean of log densities (n,) is above that of others by more than the difference's standard
    error."""
    gain = own - other
    return bool(gain.mean() > gain.std() / np.sqrt(len(gain)))


def _linear(task: LocalTask, X: Array) -> Array:
    """Bounded log densities of the held-out rows, by least squares in X (N, k) and a constant, of normal errors."""
    n, t = task.learned, task.rows.t
    P = np.column_stack([np.ones(len(X)), X])
    w, _, _, _ = np.linalg.lstsq(P[:n], t[:n], rcond=None)
    mean = P @ w
    variance = max(float(np.mean(np.square(t[:n] - mean[:n]))), np.finfo(np.float64).tiny)
    return Conditionals(t[n:], mean[n:], np.full(len(t) - n, variance)).bounded_log_density
