"""Mean and standard deviation of numbers in chunks, over the whole range of float64."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.types import Array

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
