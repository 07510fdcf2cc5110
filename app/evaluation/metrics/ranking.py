"""Ranking quality of scores: the area under the receiver's curve, one class against the rest."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.types.evaluations import Area

MAX_NUMBERS = 2**20
"""So many scores are kept as they are; of more they are counted in bins of their logits."""

BINS = 8_192
MAX_LOGIT = 40.0
"""Beyond it a probability is 0 or 1 to float64, almost: the bins end here."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Scores (N, K) of rows whose class is `truth` (N,), or how many are where: `counts` (2, K, BINS), of other classes
    and of the class itself."""

    scores: Array
    truth: Indices
    counts: Array | None = None

    @classmethod
    def of(cls, scores: Array, truth: Indices) -> "Ranking":
        """Of some rows."""
        return cls(scores, truth)._bounded()

    @classmethod
    def empty(cls, classes: int) -> Self:
        """Of no rows."""
        return cls(np.empty((0, classes)), np.empty(0, np.intp))

    def __add__(self, other: "Ranking") -> "Ranking":
        """Of both together."""
        if self.counts is None and other.counts is None:
            scores, truth = np.concatenate([self.scores, other.scores]), np.concatenate([self.truth, other.truth])
            return Ranking(scores, truth)._bounded()
        return self._counted(self._counts() + other._counts())

    def areas(self) -> tuple[Area | None, ...]:
        """Of each class, None where all rows are of it, or none is."""
        classes = self.scores.shape[1]
        if self.counts is not None:
            return tuple(_area(self.counts[0, k], self.counts[1, k], binned=True) for k in range(classes))
        return tuple(self._exact(k) for k in range(classes))

    def _exact(self, place: int) -> Area | None:
        values, where = np.unique(self.scores[:, place], return_inverse=True)
        ours = self.truth == place
        return _area(*(np.bincount(where[mask], minlength=len(values)) for mask in (~ours, ours)), binned=False)

    def _bounded(self) -> "Ranking":
        return self if self.counts is not None or self.scores.size <= MAX_NUMBERS else self._counted(self._counts())

    def _counted(self, counts: Array) -> "Ranking":
        return Ranking(self.scores[:0], self.truth[:0], counts)

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
    """From how many rows have each score, in ascending order; in bins, what is within one may be in any order."""
    pairs = float(others.sum()) * float(ours.sum())
    if not pairs:
        return None
    tied = float(ours @ others)
    above = float(ours @ (np.cumsum(others) - others))
    return Area((above + 0.5 * tied) / pairs, 0.5 * tied / pairs if binned else 0.0)
