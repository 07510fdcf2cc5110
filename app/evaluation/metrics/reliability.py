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
    """Sums (3, BINS) over rows by their probability, in bins of equal width: rows, probabilities, what came so."""

    sums: Array

    @classmethod
    def empty(cls) -> Self:
        """Of no rows."""
        return cls(np.zeros((3, BINS)))

    @classmethod
    def of(cls, probability: Array, came: Array) -> Self:
        """Of some rows, each (N,); `came` is 1 or 0."""
        places = np.minimum((probability * BINS).astype(np.intp), BINS - 1)
        weights = (np.ones(len(places)), probability, came)
        return cls(np.array([np.bincount(places, weights=each, minlength=BINS) for each in weights]))

    def __add__(self, other: "Reliability") -> "Reliability":
        """Of both together."""
        return Reliability(self.sums + other.sums)

    @property
    def expected_error(self) -> float | None:
        """The mean of |predicted - observed| over the rows, by their bins; None of nothing."""
        rows = self.sums[0].sum()
        return float(np.abs(self.sums[1] - self.sums[2]).sum() / rows) if rows else None

    def bins(self) -> Iterator[ReliabilityBin]:
        """Those that have rows."""
        for place, (rows, predicted, observed) in enumerate(self.sums.T.tolist()):
            if rows:
                yield ReliabilityBin(place / BINS, (place + 1) / BINS, int(rows), predicted / rows, observed / rows)
