"""Rows that follow from the histograms of a version's training rows, with inputs independent of each other."""

from collections.abc import Sequence

import numpy as np

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tables.columns import BooleanColumn, CategoryColumn, Column, NumberColumn, TimestampColumn
from relevance_bayes.types.baselines import CategoryHistogram, Histogram, NumberHistogram

ROWS = 150
"""The number of rows, which have the quantiles (i + 1/2) / 150 of each input."""


def column_of(histogram: Histogram, categories: Sequence[str], *, seed: int) -> Column:
    """Return a column of ROWS values at equal steps of the cumulative distribution, in an order that the seed decides.

    `categories` are those that the version knows. Missing values do not occur, unless there are no others.
    """
    shares = (np.random.default_rng(seed).permutation(ROWS) + 0.5) / ROWS
    match histogram:
        case NumberHistogram(kind=kind):
            values = _quantiles(histogram, shares)
            return NumberColumn(values) if kind == "number" else TimestampColumn(values)
        case CategoryHistogram(kind="boolean", categories=found):
            counts = {one.label: one.count for one in found}
            return BooleanColumn(_places([counts.get("false", 0), counts.get("true", 0)], shares).astype(np.int8))
        case CategoryHistogram(categories=found):
            known = [one for one in found if one.label in categories]
            places = _places([one.count for one in known], shares)
            return CategoryColumn(places.astype(np.int32), tuple(one.label for one in known))


def _quantiles(histogram: NumberHistogram, shares: Array) -> Array:
    """Return the values (n,) at these shares of the rows, linear between the edges of the bins."""
    if histogram.min is None or histogram.max is None:
        return np.full(len(shares), np.nan)
    bounds = np.array([histogram.min, *histogram.edges, histogram.max])
    return np.asarray(np.interp(shares * sum(histogram.counts), np.cumsum([0, *histogram.counts]), bounds))


def _places(counts: Sequence[int], shares: Array) -> Indices:
    """Return the index (n,) of the count that each share of all falls into; -1 where there is none."""
    if not sum(counts):
        return np.full(len(shares), -1, np.intp)
    return np.asarray(np.searchsorted(np.cumsum(counts), shares * sum(counts), side="right"), np.intp)
