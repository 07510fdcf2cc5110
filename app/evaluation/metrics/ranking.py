"""Ranking quality of scores: the area under the ROC curve, one class against the rest."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.evaluations import Area

MAX_NUMBERS = 2**20
"""The number of scores that are kept exactly; more are counted in bins of their logits."""

BINS = 8_192
MAX_LOGIT = 40.0
"""The absolute logit at which the bins end: probabilities beyond it are 0 or 1 to nearly float64 precision."""


@dataclass(frozen=True, eq=False)
class RankedScores:
    """Scores (N, K) of rows with the classes `truth` (N,), or binned `counts` (2, K, BINS) of the rows of other classes
    and of the class itself."""

    scores: Array
    truth: Indices
    counts: Array | None = None

    @classmethod
    def of(cls, scores: Array, truth: Indices) -> "RankedScores":
        """Return the ranking of some rows."""
        return cls(scores, truth)._bounded()

    @classmethod
    def empty(cls, classes: int) -> Self:
        """Return the ranking of no rows."""
        return cls(np.empty((0, classes)), np.empty(0, np.intp))

    def __add__(self, other: "RankedScores") -> "RankedScores":
        """Return the ranking of both."""
        if self.counts is None and other.counts is None:
            scores, truth = np.concatenate([self.scores, other.scores]), np.concatenate([self.truth, other.truth])
            return RankedScores(scores, truth)._bounded()
        return self._counted(self._counts() + other._counts())

    def areas(self) -> tuple[Area | None, ...]:
        """Return the area of each class, None where all rows or none have it."""
        classes = self.scores.shape[1]
        if self.counts is not None:
            return tuple(_area(self.counts[0, k], self.counts[1, k], binned=True) for k in range(classes))
        return tuple(self._exact(k) for k in range(classes))

    def _exact(self, place: int) -> Area | None:
        values, where = np.unique(self.scores[:, place], return_inverse=True)
        ours = self.truth == place
        return _area(*(np.bincount(where[mask], minlength=len(values)) for mask in (~ours, ours)), binned=False)

    def _bounded(self) -> "RankedScores":
        return self if self.counts is not None or self.scores.size <= MAX_NUMBERS else self._counted(self._counts())

    def _counted(self, counts: Array) -> "RankedScores":
        return RankedScores(self.scores[:0], self.truth[:0], counts)

    def _counts(self) -> Array:
        if self.counts is not None:
            return self.counts
        with np.errstate(divide="ignore"):
            logits = np.log(self.scores) - np.log1p(-self.scores)
        scaled = (np.clip(logits, -MAX_LOGIT, MAX_LOGIT) + MAX_LOGIT) * (BINS / (2.0 * MAX_LOGIT))
        places = np.minimum(scaled.astype(np.intp), BINS - 1)
        ours = self.truth[:, None] == np.arange(self.scores.shape[1])
        by_class = [
            [np.bincount(places[mask[:, k], k], minlength=BINS) for k in range(self.scores.shape[1])]
            for mask in (~ours, ours)
        ]
        return np.array(by_class, np.float64)


def _area(others: Array | Indices, ours: Array | Indices, *, binned: bool) -> Area | None:
    """Return the area from the numbers of rows at each score, ascending, with its uncertainty where `binned`."""
    pairs = float(others.sum()) * float(ours.sum())
    if not pairs:
        return None
    tied = float(ours @ others)
    above = float(ours @ (np.cumsum(others) - others))
    return Area((above + 0.5 * tied) / pairs, 0.5 * tied / pairs if binned else 0.0)
