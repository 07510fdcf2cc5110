"""Inputs so far from all others that they would determine mean and standard deviation alone.

One value of 1e200 among a hundred makes all others equal, to sixteen digits. Such values are found by a gap: beyond the
farthest ordinary value no other is within a thousand times its distance from the median. Columns that are only skewed
have no gap: of log-normal values with sigma 3 the greatest of 1,000 is a thousand times the next with a probability of
.0002, of Cauchy values of .001.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from relevance_bayes.core.folds import content_keys
from relevance_bayes.core.types import Array, Mask

GAP = 1e3
"""The ratio of distances from the median of the first outlying and the last ordinary value."""

MAX_SHARE = 0.02
"""The maximum share of rows that may be outlying, ..."""

MAX_ROWS = 2
"""... or their maximum number where that is more."""

MIN_ORDINARY = 10
"""The minimum number of ordinary rows."""

MAX_VALUES = 1_000
"""The maximum number of distinct values that are kept of a column, drawn by content, besides its least and greatest."""


@dataclass(frozen=True)
class Limits:
    """The least and the greatest ordinary value of a column, with a margin for later ones."""

    minimum: float
    maximum: float

    def outside(self, values: Array) -> Mask:
        """Return a mask of the outlying values (N,); missing ones are not."""
        return (values < self.minimum) | (values > self.maximum)


@dataclass
class ValueSample:
    """At most MAX_VALUES distinct values of a column with their counts; independent of the order of rows."""

    counts: Counter[float] = field(default_factory=Counter)
    keys: dict[float, int] = field(default_factory=dict)

    def add(self, values: Array) -> None:
        """Add finite values (N,)."""
        if len(self.keys) == MAX_VALUES:
            values = values[content_keys(values[:, None], 0) <= max(self.keys.values())]
        found, counts = np.unique(values + 0.0, return_counts=True)
        keys = content_keys(found[:, None], 0)
        minimum = np.argsort(keys)[:MAX_VALUES]
        found, counts, keys = found[minimum], counts[minimum], keys[minimum]
        for value, count, key in zip(found.tolist(), counts.tolist(), keys.tolist(), strict=True):
            self.counts[value] += count
            self.keys[value] = key
        if len(self.keys) > MAX_VALUES:
            for value in sorted(self.keys, key=self.keys.__getitem__)[MAX_VALUES:]:
                del self.keys[value], self.counts[value]

    def limits(self, minimum: float, maximum: float) -> Limits | None:
        """Return the limits of a column between `minimum` and `maximum`; None where no value is outlying."""
        counts = Counter({minimum: 1, maximum: 1}) | self.counts
        values = np.array(sorted(counts))
        rows = np.array([counts[value] for value in values.tolist()])
        centre = float(values[np.searchsorted(np.cumsum(rows), rows.sum() / 2.0)])
        with np.errstate(over="ignore"):
            distances = np.abs(values - centre)
        order = np.argsort(distances, kind="stable")
        distances, inside = distances[order], np.cumsum(rows[order])
        outside = rows.sum() - inside
        with np.errstate(over="ignore"):
            gaps = (distances[1:] > GAP * distances[:-1]) & (distances[:-1] > 0.0)
        few = (outside[:-1] <= max(MAX_ROWS, MAX_SHARE * rows.sum())) & (inside[:-1] >= MIN_ORDINARY)
        found = np.flatnonzero(gaps & few)
        if not len(found):
            return None
        space = float(distances[found[0]]) * np.sqrt(GAP)
        return Limits(centre - float(space), centre + float(space))
