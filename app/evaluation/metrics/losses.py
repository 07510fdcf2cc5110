"""The loss of each row, whose mean is a metric: less is better."""

from typing import get_args

import numpy as np

from app.tasks.labelled import Labelled, LabelledClasses, LabelledNumbers
from relevance_bayes.core.types import Array
from relevance_bayes.types.evaluations import ClassMetric, Metric, NumberMetric

NUMBER_METRICS: tuple[NumberMetric, ...] = get_args(NumberMetric)
CLASS_METRICS: tuple[ClassMetric, ...] = get_args(ClassMetric)

MAX_ERROR = 1e150
"""An error whose square is still a number: greater ones cost as much."""


def losses(labelled: Labelled, metric: Metric) -> Array:
    """Return the loss of each row (N,), NaN where it has none; raises ValueError for a metric of other tasks.

    For `rmse` squares, whose mean's root it is. `nll` and `log_loss` in nats, NaN where the version holds what came for
    impossible, or has never seen the class. A class never seen is an error, and stands apart for `brier`, which is half
    of the squared distance from certainty.
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
