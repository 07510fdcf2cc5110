"""Two versions on the same rows: how much better one is, and how sure that is, by a paired bootstrap."""

import math
from dataclasses import dataclass

import numpy as np

from app.domain.scoring.losses import Metric
from app.sparse_bayes.types import Array

REPLICATES = 1_000
ROWS_AT_ONCE = 512
"""Rows that are weighed together: what bounds the memory, 8 bytes for each of their replicates."""

LARGEST = 1e290
"""A loss of which sums over any number of rows are still numbers: greater ones count as this."""

_LEVELS = 2**16


@dataclass(frozen=True)
class Improvement:
    """A metric of a holder and of a challenger on the same `rows`: `estimate` is the holder's less the challenger's.

    Above 0 the challenger is better: all of these are losses. Between `lower` and `upper` are 95 % of the replicates,
    each of which counts every row as often as a Poisson variable of mean 1 says. Rows that have no such loss under one
    of both, `left_out`, count for neither. None where no row is left.
    """

    metric: Metric
    rows: int
    left_out: int
    holder: float | None
    challenger: float | None
    estimate: float | None
    lower: float | None
    upper: float | None


class Paired:
    """Sums over the rows seen, weighed for each replicate; how rows are divided into pieces makes no difference but of
    rounding."""

    def __init__(self, metric: Metric, seed: int, replicates: int = REPLICATES) -> None:
        """An even number of `replicates`."""
        self._metric: Metric = metric
        self._draws = np.random.default_rng(seed)
        self._rows = self._left_out = 0
        self._plain = np.zeros(2)
        self._weights = np.zeros(replicates)
        self._weighed = np.zeros((replicates, 2))
        self._poisson = _poisson()

    def add(self, holder: Array, challenger: Array) -> None:
        """Take in what some rows cost under each, (N,), as `losses` tells it."""
        both = np.column_stack([holder, challenger])
        known = ~(np.isnan(holder) | np.isnan(challenger))
        self._rows += int(known.sum())
        self._left_out += int((~known).sum())
        both = np.minimum(np.where(known[:, None], both, 0.0), LARGEST)
        self._plain += both.sum(axis=0)
        for first in range(0, len(both), ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            shape = len(both[some]), len(self._weights)
            drawn = self._poisson[self._draws.integers(0, _LEVELS, shape, np.uint16)]
            self._weights += known[some].astype(np.float64) @ drawn
            self._weighed += drawn.T @ both[some]

    def result(self) -> Improvement:
        """Of all rows seen so far."""
        if not self._rows:
            return Improvement(self._metric, 0, self._left_out, None, None, None, None, None)
        holder, challenger = (self._metric_of(total / self._rows) for total in self._plain)
        drawn = self._weights > 0.0  # of few rows a replicate may have none
        means = self._weighed[drawn] / self._weights[drawn, None]
        if self._metric == "rmse":
            means = np.sqrt(means)
        lower, upper = np.quantile(means[:, 0] - means[:, 1], (0.025, 0.975)).tolist() if drawn.any() else (None, None)
        return Improvement(
            self._metric, self._rows, self._left_out, holder, challenger, holder - challenger, lower, upper
        )

    def _metric_of(self, mean: float) -> float:
        return math.sqrt(mean) if self._metric == "rmse" else float(mean)


def _poisson() -> Array:
    """Counts (2^16,) as frequent as under Poisson's law of mean 1, to 1e-5: a draw is one look."""
    upto = np.cumsum([math.exp(-1.0) / math.factorial(count) for count in range(12)])
    return np.searchsorted(upto, (np.arange(_LEVELS) + 0.5) / _LEVELS).astype(np.float64)
