"""Moments, quantiles and histograms of columns, computed in one pass.

Values are sorted in buffers of k; of a full one every second value goes on to the next level, where each counts twice,
from the first and from the second value in turn. Up to k - 1 values nothing is left out. Beyond, a rank is wrong by at
most (log2(n / k) + 1) / (2 k) of all n values and one value of each level, whatever their order.

Numbers with heavy tails, of which a few values decide the standard deviation beside which all others are nearly equal,
have logarithms with a sign, sign(x) log(1 + |x|/u): linear within the unit u of 0, logarithmic beyond it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.core.types import Array
from relevance_bayes.records.reports import CategoryHistogram, Histogram, NumberHistogram
from relevance_bayes.records.values import CategoryCount
from relevance_bayes.tables.columns import BooleanArray, CategoryArray, Column, NumberArray, TimestampArray

_BELOW_ALL = -1100
"""An exponent below those of all float64, for moments of zeros only."""


@dataclass(frozen=True)
class Moments:
    """Moments of a stream of finite numbers: count, range, mean and sum of squared deviations.

    The last two are in units of 2**exponent, in which the magnitude of each number is below 1, so that neither 1e308
    nor 1e-308 overflows or underflows.
    """

    count: int = 0
    minimum: float = math.inf
    maximum: float = -math.inf
    exponent: int = 0
    scaled_mean: float = 0.0
    scaled_squares: float = 0.0

    @classmethod
    def of(cls, values: Array) -> Self:
        """Return the moments of `values` (N,), all finite."""
        if not len(values):
            return cls()
        minimum, maximum = float(values.min()), float(values.max())
        size = max(abs(minimum), abs(maximum))
        exponent = math.frexp(size)[1] if size else _BELOW_ALL
        scaled = np.ldexp(values, -exponent)
        mean = float(scaled.mean())
        return cls(len(values), minimum, maximum, exponent, mean, float(np.square(scaled - mean).sum()))

    def __add__(self, other: "Moments") -> "Moments":
        """Return the moments of both together [CHAN1983]."""
        if not self.count or not other.count:
            return self if self.count else other
        exponent = max(self.exponent, other.exponent)
        mean = math.ldexp(self.scaled_mean, self.exponent - exponent)
        step = math.ldexp(other.scaled_mean, other.exponent - exponent) - mean
        squares = sum(math.ldexp(part.scaled_squares, 2 * (part.exponent - exponent)) for part in (self, other))
        count = self.count + other.count
        share = other.count / count
        return Moments(
            count,
            min(self.minimum, other.minimum),
            max(self.maximum, other.maximum),
            exponent,
            mean + step * share,
            squares + step * step * share * self.count,
        )

    @property
    def is_constant(self) -> bool:
        """Return whether all numbers are equal."""
        return self.minimum >= self.maximum

    @property
    def mean(self) -> float:
        """Return the mean, 0 without numbers; exact when all are equal."""
        if self.is_constant:
            return self.minimum if self.count else 0.0
        low, high = math.ldexp(self.minimum, -self.exponent), math.ldexp(self.maximum, -self.exponent)
        return math.ldexp(min(max(self.scaled_mean, low), high), self.exponent)

    @property
    def sd(self) -> float:
        """Return the standard deviation (population), 0 for equal numbers."""
        if self.is_constant:
            return 0.0
        largest = math.ldexp(max(abs(self.minimum), abs(self.maximum)), -self.exponent)
        return math.ldexp(min(math.sqrt(self.scaled_squares / self.count), largest), self.exponent)


LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
"""The probabilities of the quantiles that are kept of a column."""

MAX_QUANTILE_BINS = 32
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
        bins = min(MAX_QUANTILE_BINS, int(np.ceil(2.0 * np.cbrt(weights.sum()))))
        places = np.clip((0.5 * values - 0.5 * minimum) / width * bins, 0.0, bins - 1).astype(np.intp)
        return tuple(np.bincount(places, weights, minlength=bins).astype(np.int64).tolist())


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
        case CategoryArray(codes=codes, labels=labels):
            return _category_histogram(name, codes, labels)
        case BooleanArray(values=flags):
            counts = np.bincount(flags[flags >= 0], minlength=2).tolist()
            categories = tuple(map(CategoryCount, FLAGS, counts))
            missing = len(flags) - sum(counts)
            return CategoryHistogram(name=name, kind="boolean", missing=missing, categories=categories, other=0)
        case NumberArray(values=values):
            return number_histogram(name, values)
        case TimestampArray(values=values):
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
            case (("number" | "timestamp"), (NumberArray(values=values) | TimestampArray(values=values))):
                return np.where(np.isnan(values), missing, np.searchsorted(self._edges, values))
            case "boolean", BooleanArray(values=flags):
                return np.where(flags < 0, missing, flags)
            case "category", CategoryArray(codes=codes, labels=labels):
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


MIN_RATIO = 10.0
"""The ratio of the 99 % quantile of the magnitudes to their median from which tails are heavy: normal values have 3.8,
exponential ones 6.6, log-normal ones with sigma 1 10.2."""

MIN_VALUES = 12
"""The fewest distinct values other than 0."""

HIGH_QUANTILE = 0.99

SHARE_OF_LEAST = 0.1
"""The unit over the least magnitude of values of one sign, none of them 0."""

MAX_RANGE = 1e200
"""The ratio of the largest to the least magnitude up to which logarithms are computed."""


def signed_logarithm(values: Array, unit: Array | float) -> Array:
    """Return sign(x) log(1 + |x|/u) of numbers (N, ...) by units that broadcast; NaN where they are missing."""
    return np.asarray(np.sign(values) * np.log1p(np.abs(values) / unit))


def signed_exponential(logarithms: Array, unit: float) -> Array:
    """Return the inverse of `signed_logarithm`, at most the largest float64."""
    with np.errstate(over="ignore"):
        return np.nan_to_num(np.sign(logarithms) * unit * np.expm1(np.abs(logarithms)), nan=np.nan)


@dataclass(frozen=True)
class LogarithmicScale:
    """The unit u of a column's logarithms, and their mean and standard deviation over its values."""

    unit: float
    shift: float
    scale: float

    @property
    def mean(self) -> float:
        """Return the number whose logarithm is the mean."""
        return float(signed_exponential(np.array([self.shift]), self.unit)[0])


def logarithmic_scale(counts: Mapping[float, int]) -> LogarithmicScale | None:
    """Return the scale of logarithms of values with heavy tails, given how often each occurs; None for other values.

    The unit is a tenth of the least magnitude where all values have one sign, so that the logarithm is nearly one of
    each, and of smaller ones to come; it is the least magnitude where some are 0. Else it is the median of the
    magnitudes, within which values of both signs are near each other. Values of 0 are not counted.
    """
    values = np.array(sorted(counts))
    rows = np.array([counts[value] for value in values.tolist()], np.float64)
    others = values != 0.0
    if others.sum() < MIN_VALUES:
        return None
    order = np.argsort(np.abs(values[others]), kind="stable")
    sizes, shares = np.abs(values[others])[order], np.cumsum(rows[others][order])
    median, high = (float(sizes[np.searchsorted(shares, q * shares[-1])]) for q in (0.5, HIGH_QUANTILE))
    if high < MIN_RATIO * median or sizes[-1] >= MAX_RANGE * sizes[0]:
        return None
    unit = median if values[0] < 0.0 < values[-1] else float(sizes[0]) * (SHARE_OF_LEAST if others.all() else 1.0)
    logarithms = signed_logarithm(values, unit)
    shift = float(rows @ logarithms / rows.sum())
    sd = float(np.sqrt(rows @ np.square(logarithms - shift) / rows.sum()))
    return LogarithmicScale(unit, shift, sd)
