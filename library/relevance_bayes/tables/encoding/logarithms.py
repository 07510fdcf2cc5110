"""Logarithms with a sign, sign(x) log(1 + |x|/u), of numbers with heavy tails.

Of a column such as incomes a few values decide the standard deviation, beside which all others are nearly equal. Its
logarithm has a common scale for small and large ones. With the sign it is defined at 0 and below: linear within the
unit u of 0, logarithmic beyond it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.types import Array

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
