"""Predictions with the true targets, from which metrics are computed."""

from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.values import Label

COVERAGES = (50, 80, 95)
"""The intervals, in percent, for which coverage and width are reported."""


@dataclass(frozen=True, eq=False)
class LabelledNumbers:
    """N rows with predictions and targets, in the user's units, each (N,).

    `log_density` of the target in nats, -inf where the predicted density is 0. `below` and `upto` are P(y' < y) and
    P(y' <= y) of a new y' under the prediction; they differ only for counts. `lower` and `upper` (3, N) are the ends of
    the intervals of `COVERAGES`.
    """

    target: Array
    mean: Array
    sd: Array
    log_density: Array
    below: Array
    upto: Array
    lower: Array
    upper: Array

    @property
    def error(self) -> Array:
        """target - mean, clipped to the range of float64."""
        largest = np.finfo(np.float64).max
        with np.errstate(over="ignore"):
            return np.clip(self.target - self.mean, -largest, largest)


@dataclass(frozen=True, eq=False)
class LabelledClasses:
    """N rows with predictions and true classes: `probabilities` (N, K) in the order of `classes`.

    `truth` (N,) is the index of each row's class, -1 for a class that the version does not know; `chosen` (N,) that of
    the predicted label.
    """

    classes: tuple[Label, ...]
    truth: Indices
    probabilities: Array
    chosen: Indices

    @property
    def certain(self) -> Array:
        """The one-hot truth (N, K): 1 at the true class, only 0 for an unknown one."""
        return np.equal(self.truth[:, None], np.arange(len(self.classes))).astype(np.float64)


Labelled = LabelledNumbers | LabelledClasses
