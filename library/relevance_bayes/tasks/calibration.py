"""Counts of predictions by probability, which show how well they are calibrated."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.types.evaluations import ReliabilityBin

BINS = 20
"""The number of bins of equal width from 0 to 1."""


def pit_counts(below: Array, upto: Array) -> Array:
    """Return rows (BINS,) by P(y' <= y) of a new y', from the probabilities (N,) of less than y and of at most y.

    A row between two different values is spread evenly over the bins between them.
    """
    edges = np.linspace(0.0, 1.0, BINS + 1)
    point = np.minimum((upto * BINS).astype(np.intp), BINS - 1)
    wide = upto > below
    counts = np.bincount(point[~wide], minlength=BINS).astype(np.float64)
    if wide.any():
        start, stop = below[wide, None], upto[wide, None]
        counts += np.diff(np.clip((edges - start) / (stop - start), 0.0, 1.0), axis=1).sum(axis=0)
    return counts


@dataclass(frozen=True, eq=False)
class CalibrationBins:
    """Sums (3, BINS) over rows by probability, in bins of equal width: rows, probabilities, occurrences."""

    sums: Array

    @classmethod
    def empty(cls) -> Self:
        """Return the sums of no rows."""
        return cls(np.zeros((3, BINS)))

    @classmethod
    def of(cls, probability: Array, came: Array) -> Self:
        """Return the sums of rows (N,); `came` is 1 where the class occurred, else 0."""
        places = np.minimum((probability * BINS).astype(np.intp), BINS - 1)
        weights = (np.ones(len(places)), probability, came)
        return cls(np.array([np.bincount(places, weights=each, minlength=BINS) for each in weights]))

    def __add__(self, other: "CalibrationBins") -> "CalibrationBins":
        """Return the sums of both."""
        return CalibrationBins(self.sums + other.sums)

    @property
    def expected_error(self) -> float | None:
        """Return the mean of |predicted - observed| over the rows, by bins; None without rows."""
        rows = self.sums[0].sum()
        return float(np.abs(self.sums[1] - self.sums[2]).sum() / rows) if rows else None

    def bins(self) -> Iterator[ReliabilityBin]:
        """Yield the bins that have rows."""
        for place, (rows, predicted, observed) in enumerate(self.sums.T.tolist()):
            if rows:
                yield ReliabilityBin(place / BINS, (place + 1) / BINS, int(rows), predicted / rows, observed / rows)
