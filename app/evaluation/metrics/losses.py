"""The loss of each row, whose mean is a metric: lower is better."""

from dataclasses import dataclass
from typing import Self, get_args

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.records.evaluations import ClassMetric, Metric, NumberMetric
from relevance_bayes.tasks.prediction import Labelled, LabelledClasses, LabelledNumbers


@dataclass(frozen=True)
class Mean:
    """The mean of `rows` numbers, and the number of NaN, which are left out."""

    rows: int = 0
    mean: float = 0.0
    left_out: int = 0

    @classmethod
    def of(cls, values: Array) -> Self:
        """Return the mean of `values` (N,), of which NaN are left out."""
        present = values[~np.isnan(values)]
        largest = float(np.abs(present).max(initial=0.0)) or 1.0
        mean = largest * float((present / largest).mean()) if len(present) else 0.0
        return cls(len(present), mean, len(values) - len(present))

    def __add__(self, other: "Mean") -> "Mean":
        """Return the mean over both."""
        rows = self.rows + other.rows
        share = other.rows / rows if rows else 0.0
        return Mean(rows, (1.0 - share) * self.mean + share * other.mean, self.left_out + other.left_out)

    @property
    def value(self) -> float | None:
        """The mean, None without rows."""
        return self.mean if self.rows else None


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
