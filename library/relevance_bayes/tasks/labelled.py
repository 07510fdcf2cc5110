"""Predictions with the true targets, from which metrics are computed, and their scores by outcomes of rows."""

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from relevance_bayes.core.types import Array, Indices, Mask
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

LEVELS = (50, 80, 95)
"""The intervals, in percent, whose coverage is measured."""

TEMPERED = {"lower": 0.5, "higher": 2.0}
"""The powers of the predicted density that a departure of the log score is tested against: see `tempered_ratio`."""

MAX_LOG_RATIO = 2.0
"""The most evidence of one row: so no outlier raises an alarm alone."""

MARGIN, MARGIN_OF_COUNTS = 1.01, 1.03
"""The factors by which a normaliser is increased, more than the error of its quadrature; over counts it has steps."""


S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class LogScores(Generic[S]):
    """The log score of an outcome, or of several.

    `log_score` is the log density of the outcome in nats, in the user's units, or the log probability of the class; it
    is -inf where the prediction excludes it. `expected_log_score` is its mean under the prediction itself. `lower` and
    `higher` are log likelihood ratios for a log score below and above that mean: see `tempered_ratio`.
    """

    log_score: S
    expected_log_score: S
    lower: S
    higher: S


@dataclass(frozen=True, eq=False)
class ScoredRows(LogScores[Array]):
    """N outcomes under the predictions for their rows, each (N,); rows not `chosen` have no prediction, or no outcome.

    For numbers, `inside` (3, N) is 1 where the interval of `LEVELS` contains the outcome. For classes it is empty,
    (0, N), `correct` is 1 where the most probable class is the outcome, and `confidence` is its probability; NaN for
    numbers. `miss` is the probability of a number outside its 95 % interval, less than 5 % for counts; NaN for classes.
    """

    chosen: Mask
    inside: Array
    correct: Array
    confidence: Array
    miss: Array


def tempered_ratio(
    log_score: Array, log_scores: Array, weights: Array, *, power: float, margin: float = MARGIN
) -> Array:
    """Return log likelihood ratios (N,) of the predicted density p to the power of tau, `power`, against p itself.

    log L = min((tau - 1) (log p(y) - E log p), `MAX_LOG_RATIO`) - log Z, where Z makes E L at most 1 under p. tau < 1
    is a flatter density, under which the log score is lower. `log_scores` (K, N) are log p at K points of each
    prediction, and `weights` (K, N) their probabilities, from which E and Z are computed; points of probability 0 count
    as nothing.
    """
    known = np.where(weights > 0.0, log_scores, 0.0)
    centre = (weights * known).sum(axis=0)
    ratios = np.exp(np.minimum((power - 1.0) * (known - centre), MAX_LOG_RATIO))
    normaliser = np.log(margin * (weights * ratios).sum(axis=0))
    with np.errstate(invalid="ignore"):
        ratio: Array = np.minimum((power - 1.0) * (log_score - centre), MAX_LOG_RATIO) - normaliser
    return ratio
