"""Histograms of columns, the counts of other rows in their bins, and the population stability index of both."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import BooleanColumn, CategoryColumn, Column, NumberColumn, TimestampColumn
from relevance_bayes.types.baselines import CategoryHistogram, Histogram, NumberHistogram
from relevance_bayes.types.datasets import CategoryCount

Counts: TypeAlias = NDArray[np.int64]

MAX_BINS = 10
"""The maximum number of bins between quantiles."""

MIN_ROWS_A_BIN = 20
"""The number of rows for each bin, fewer than which make PSI noisy: small tables have fewer bins."""

MAX_CATEGORIES = 20
"""The number of most frequent categories with a bin of their own."""

SMOOTHING = 0.5
"""The number that is added to each count, so that an empty bin has a finite logarithm."""

FLAGS = ("false", "true")


def histogram_of(name: str, column: Column) -> Histogram:
    """Return the histogram of a column."""
    match column:
        case CategoryColumn(codes=codes, labels=labels):
            return _category_histogram(name, codes, labels)
        case BooleanColumn(values=flags):
            counts = np.bincount(flags[flags >= 0], minlength=2).tolist()
            categories = tuple(map(CategoryCount, FLAGS, counts))
            missing = len(flags) - sum(counts)
            return CategoryHistogram(name=name, kind="boolean", missing=missing, categories=categories, other=0)
        case NumberColumn(values=values):
            return number_histogram(name, values)
        case TimestampColumn(values=values):
            return number_histogram(name, values, is_timestamp=True)


def number_histogram(name: str, values: Array, *, is_timestamp: bool = False) -> NumberHistogram:
    """Return the histogram of `values` (N,), NaN where missing.

    Edges are values between which there are about as many rows; a value that many rows share has a bin of its own.
    """
    present = np.sort(values[~np.isnan(values)])
    edges = _edges(present)
    places = np.searchsorted(edges, present)
    return NumberHistogram(
        name=name,
        kind="timestamp" if is_timestamp else "number",
        missing=len(values) - len(present),
        min=float(present[0]) if len(present) else None,
        max=float(present[-1]) if len(present) else None,
        edges=tuple(edges.tolist()),
        counts=tuple(np.bincount(places, minlength=len(edges) + 1).tolist()),
    )


def _edges(present: Array) -> Array:
    """Return the edges between the ascending values (N,), each of them one of these."""
    if not len(present):
        return present
    edges = quantile_edges(present, MAX_BINS)
    minimum = present[0]
    if edges[0] > minimum or (present == minimum).sum() == 1 or minimum <= -np.finfo(np.float64).max:
        return edges
    # Many rows share the least value: without this edge, lower ones would count with them.
    return np.concatenate([[np.nextafter(edges[0], -np.inf)], edges])


def quantile_edges(present: Array, max_bins: int) -> Array:
    """Return at most `max_bins` - 1 edges, values between which about as many of the ascending values (N,) are.

    A value is in the first bin whose edge it does not exceed, so that each bin but the last has one.
    """
    bins = min(max_bins, max(2, len(present) // MIN_ROWS_A_BIN))
    last_rows = np.arange(1, bins) * len(present) // bins - 1
    return np.unique(present[np.maximum(last_rows, 0)])


def _category_histogram(name: str, codes: NDArray[np.int32], labels: Sequence[str]) -> CategoryHistogram:
    counts = np.bincount(codes[codes >= 0], minlength=len(labels)).tolist()
    frequent = sorted(zip(labels, counts, strict=True), key=lambda pair: (-pair[1], pair[0]))
    listed = tuple(CategoryCount(label, count) for label, count in frequent[:MAX_CATEGORIES] if count)
    present = sum(counts)
    return CategoryHistogram(
        name=name,
        kind="category",
        missing=len(codes) - present,
        categories=listed,
        other=present - sum(one.count for one in listed),
    )


@dataclass(frozen=True, eq=False)
class Binning:
    """The bins of a histogram: those of its values, of other categories, and last of missing values."""

    histogram: Histogram

    @cached_property
    def expected(self) -> tuple[int, ...]:
        """Return the counts of the histogram."""
        match self.histogram:
            case NumberHistogram(counts=counts, missing=missing):
                return (*counts, missing)
            case CategoryHistogram(categories=categories, other=other, missing=missing):
                return (*(one.count for one in categories), other, missing)

    def observed(self, column: Column) -> Counts:
        """Return the number of values of a column in each bin; a column of another kind has none."""
        return np.bincount(self._places(column), minlength=len(self.expected))

    @cached_property
    def _edges(self) -> Array:
        return np.array(self.histogram.edges if isinstance(self.histogram, NumberHistogram) else ())

    @cached_property
    def _categories(self) -> dict[str, int]:
        if isinstance(self.histogram, NumberHistogram):
            return {}
        return {one.label: place for place, one in enumerate(self.histogram.categories)}

    def _places(self, column: Column) -> NDArray[np.intp]:
        """Return the bins of the values (N,)."""
        missing = len(self.expected) - 1
        match self.histogram.kind, column:
            case (("number" | "timestamp"), (NumberColumn(values=values) | TimestampColumn(values=values))):
                return np.where(np.isnan(values), missing, np.searchsorted(self._edges, values))
            case "boolean", BooleanColumn(values=flags):
                return np.where(flags < 0, missing, flags)
            case "category", CategoryColumn(codes=codes, labels=labels):
                places = [self._categories.get(label, missing - 1) for label in labels]
                return np.array([*places, missing])[codes]
            case _:
                return np.empty(0, np.intp)


def population_stability_index(expected: Sequence[int], observed: Sequence[int]) -> float:
    """Return the sum over the bins of (q - p) ln(q / p), p the expected and q the observed shares of rows.

    SMOOTHING is added to each count: p_b = (n_b + 1/2) / (n + B/2) for B bins.
    """
    p, q = (np.array(counts) + SMOOTHING for counts in (expected, observed))
    p, q = p / p.sum(), q / q.sum()
    return float(((q - p) * np.log(q / p)).sum())
