"""Quantiles and a histogram of a stream of numbers in bounded memory.

Values are sorted in buffers of k; of a full one every second value goes on to the next level, where each counts twice,
from the first and from the second value in turn. Up to k - 1 values nothing is left out. Beyond, a rank is wrong by at
most (log2(n / k) + 1) / (2 k) of all n values and one value of each level, whatever their order.
"""

from collections.abc import Sequence

import numpy as np

from relevance_bayes.core.types import Array

LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
"""The probabilities of the quantiles that are kept of a column."""

MAX_BINS = 32
"""The number of bins of a histogram; of n values at most 2 n^(1/3)."""

MAX_SIZE, MIN_SIZE = 4_096, 256
"""The number of values in a buffer: of up to 64 columns the first, of more fewer."""

MAX_VALUES = 2**18
"""The number of values in the buffers of one level of all columns."""


def buffer_size(columns: int) -> int:
    """Return the size of a buffer, an even number, for a table of so many columns."""
    return min(max(MAX_VALUES // max(columns, 1), MIN_SIZE), MAX_SIZE) & ~1


class QuantileSketch:
    """A sketch of the distribution of numbers, which depends on their order and not on its division into parts."""

    def __init__(self, size: int = MAX_SIZE) -> None:
        self._size = size
        self._levels: list[list[Array]] = [[]]
        self._waiting = [0]
        self._starts = [0]

    def add(self, values: Array) -> None:
        """Add values (N,), all finite."""
        first = 0
        while first < len(values):
            some = values[first : first + self._size - self._waiting[0]]
            first += len(some)
            self._put(0, np.array(some))

    def _put(self, level: int, values: Array) -> None:
        self._levels[level].append(values)
        self._waiting[level] += len(values)
        if self._waiting[level] < self._size:
            return
        if level + 1 == len(self._levels):
            self._levels.append([])
            self._waiting.append(0)
            self._starts.append(0)
        kept = np.sort(np.concatenate(self._levels[level]))[self._starts[level] :: 2]
        self._levels[level], self._waiting[level] = [], 0
        self._starts[level] = 1 - self._starts[level]
        self._put(level + 1, kept)

    def _weighted(self) -> tuple[Array, Array]:
        """Return the values that were kept (m,), ascending, and the number of values that each counts for (m,)."""
        parts = [np.concatenate([np.zeros(0), *level]) for level in self._levels]
        weights = np.concatenate([np.full(len(part), 2.0**level) for level, part in enumerate(parts)])
        values = np.concatenate(parts)
        order = np.argsort(values, kind="stable")
        return values[order], weights[order]

    def quantiles(self, levels: Sequence[float] = LEVELS) -> tuple[float, ...]:
        """Return the least value that so many values do not exceed, for each level; none without values."""
        values, weights = self._weighted()
        if not len(values):
            return ()
        total = np.cumsum(weights)
        places = np.searchsorted(total, np.array(levels) * total[-1] * (1.0 - 1e-12))
        return tuple(values[np.minimum(places, len(values) - 1)].tolist())

    def histogram(self, minimum: float, maximum: float) -> tuple[int, ...]:
        """Return the number of values in bins of equal width from `minimum` to `maximum`, one where these are equal.

        A value on the bound of two bins is in the upper one.
        """
        values, weights = self._weighted()
        if not len(values):
            return ()
        width = 0.5 * maximum - 0.5 * minimum
        if not width > 0.0:
            return (int(weights.sum()),)
        bins = min(MAX_BINS, int(np.ceil(2.0 * np.cbrt(weights.sum()))))
        places = np.clip((0.5 * values - 0.5 * minimum) / width * bins, 0.0, bins - 1).astype(np.intp)
        return tuple(np.bincount(places, weights, minlength=bins).astype(np.int64).tolist())
