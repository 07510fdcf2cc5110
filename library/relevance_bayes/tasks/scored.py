"""Predictions scored by the outcomes of their rows, and the evidence of each row against what was predicted."""

from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.types import Array, Mask

LEVELS = (50, 80, 95)
"""The intervals, in percent, whose coverage is measured."""

TEMPERED = {"lower": 0.5, "higher": 2.0}
"""The powers of the predicted density that a departure of the log score is tested against: see `tempered_ratio`."""

MAX_LOG_RATIO = 2.0
"""The most evidence of one row: so no outlier raises an alarm alone."""

MARGIN, MARGIN_OF_COUNTS = 1.01, 1.03
"""The factors by which a normaliser is increased, more than the error of its quadrature; over counts it has steps."""


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """N outcomes under the predictions for their rows, each (N,); rows not `chosen` have no prediction, or no outcome.

    `log_score` is the log density of the outcome in nats, in the user's units, or the log probability of the class; it
    is -inf where the prediction excludes it. `expected_log_score` is its mean under the prediction itself. `lower` and
    `higher` are log likelihood ratios for a log score below and above that mean: see `tempered_ratio`.

    For numbers, `inside` (3, N) is 1 where the interval of `LEVELS` contains the outcome. For classes it is empty,
    (0, N), `correct` is 1 where the most probable class is the outcome, and `confidence` is its probability; NaN for
    numbers. `miss` is the probability of a number outside its 95 % interval, less than 5 % for counts; NaN for classes.
    """

    chosen: Mask
    log_score: Array
    expected_log_score: Array
    lower: Array
    higher: Array
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
