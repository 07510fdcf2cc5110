"""The loss of each row, whose mean is a metric: lower is better."""

from typing import get_args

import numpy as np

from app.tasks.labelled import Labelled, LabelledClasses, LabelledNumbers
from relevance_bayes.core.types import Array
from relevance_bayes.types.evaluations import ClassMetric, Metric, NumberMetric

NUMBER_METRICS: tuple[NumberMetric, ...] = get_args(NumberMetric)
CLASS_METRICS: tuple[ClassMetric, ...] = get_args(ClassMetric)

MAX_ERROR = 1e150
"""The greatest error whose square is finite in float64; greater ones are clipped."""


def losses(labelled: Labelled, metric: Metric) -> Array:
    """Return the loss of each row (N,), NaN where it has none; raises ValueError for a metric of other tasks.

    For `rmse` the squares, of whose mean it is the root. `nll` and `log_loss` are in nats, NaN where the predicted
    density or probability of the truth is 0, or the class is unknown. An unknown class counts as an
    error, and in `brier` as a class of probability 0; `brier` is half of the squared distance from the one-hot truth.
    """
    match labelled, metric:
        case LabelledNumbers(), "rmse":
            return np.square(np.clip(labelled.error, -MAX_ERROR, MAX_ERROR))
        case LabelledNumbers(), "mae":
            return np.abs(labelled.error)
        case LabelledNumbers(), "nll":
            return np.where(np.isneginf(labelled.log_density), np.nan, -labelled.log_density)
        case LabelledClasses(), "error":
            return np.not_equal(labelled.chosen, labelled.truth).astype(np.float64)
        case LabelledClasses(), "log_loss":
            return _log_loss(labelled)
        case LabelledClasses(), "brier":
            away = np.square(labelled.probabilities - labelled.certain).sum(axis=1)
            return np.asarray(0.5 * (away + np.where(labelled.truth < 0, 1.0, 0.0)))
        case _:
            raise ValueError(f"expected {CLASS_METRICS} of classes or {NUMBER_METRICS} of numbers, got {metric}")


def _log_loss(labelled: LabelledClasses) -> Array:
    places = np.maximum(labelled.truth, 0)[:, None]
    given = np.take_along_axis(labelled.probabilities, places, axis=1)[:, 0]
    return np.where(labelled.truth < 0, np.nan, -np.log(np.maximum(given, np.finfo(np.float64).tiny)))
