"""Reliability (calibration) of probabilities."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.types.evaluations import ReliabilityBin

BINS = 20


@dataclass(frozen=True, eq=False)
class Reliability:
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

    def __add__(self, other: "Reliability") -> "Reliability":
        """Return the sums of both."""
        return Reliability(self.sums + other.sums)

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
