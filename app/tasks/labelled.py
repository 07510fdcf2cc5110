"""Predictions beside what came: the rows that metrics are of."""

from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.types.values import Label

COVERAGES = (50, 80, 95)
"""The intervals, in percent, of which it is told how many rows they hold and how wide they are."""


@dataclass(frozen=True, eq=False)
class LabelledNumbers:
    """N rows that a version predicted and whose target is known, in the user's units, each (N,).

    `log_density` of the target in nats, -inf where the version holds it for impossible. `below` and `upto` are
    P(y' < y) and P(y' <= y) of a new y' under the prediction: the same where targets are no counts. `lower` and `upper`
    (3, N) are the ends of the intervals of `COVERAGES`.
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
        """target - mean, at most what float64 can carry."""
        largest = np.finfo(np.float64).max
        with np.errstate(over="ignore"):
            return np.clip(self.target - self.mean, -largest, largest)


@dataclass(frozen=True, eq=False)
class LabelledClasses:
    """N rows that a version predicted and whose class is known: `probabilities` (N, K) in the order of `classes`.

    `truth` (N,) is the place of each row's class, -1 where it is one that the version has never seen; `chosen` (N,) of
    the label that was predicted.
    """

    classes: tuple[Label, ...]
    truth: Indices
    probabilities: Array
    chosen: Indices

    @property
    def certain(self) -> Array:
        """Return what would have been right, (N, K): 1 at the truth, and nothing but 0 where no class is it."""
        return np.equal(self.truth[:, None], np.arange(len(self.classes))).astype(np.float64)


Labelled = LabelledNumbers | LabelledClasses
