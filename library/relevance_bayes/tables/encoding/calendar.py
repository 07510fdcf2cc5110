"""Positions of points in time within the year, the week and the day, as points on a circle.

A period T becomes two columns, sin(2 pi u) and cos(2 pi u), with u = (s mod T)/T for s seconds since 1970 UTC. A
Gaussian kernel of both is a periodic kernel, exp(-2 sin^2(pi (u - u'))/w^2) with w their width [MACKAY1998]. The day of
the week changes at midnight; 31 December is beside 1 January.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.tables.moments import Moments
from relevance_bayes.types.values import Period

DAY = 86_400.0

SECONDS: dict[Period, float] = {"year": 365.2425 * DAY, "week": 7.0 * DAY, "day": DAY}
"""The length of each period."""

FIRST_MONDAY = 4.0 * DAY
"""5 January 1970, the beginning of a week."""

MIN_PERIODS = 2.0
"""The number of periods that values span where the period is an input; over less it can't be distinguished from a
trend."""


def phases(seconds: Array, period: Period) -> Array:
    """Return the positions (N,) of points in time (N,) within the period, from 0 to below 1; of a week by days."""
    if period == "week":
        seconds = np.floor(seconds / DAY) * DAY - FIRST_MONDAY
    return np.mod(seconds, SECONDS[period]) / SECONDS[period]


def calendar_columns(seconds: Array, periods: Sequence[Period]) -> Array:
    """Return sine and cosine (N, 2 P) of the positions of points in time (N,) within P periods; 0 where missing."""
    angles = 2.0 * np.pi * np.array([phases(seconds, period) for period in periods]).reshape(len(periods), len(seconds))
    columns = np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(2 * len(periods), len(seconds)).T
    return np.where(np.isnan(columns), 0.0, columns)


@dataclass
class PeriodStatistics:
    """The range of points in time, and of their positions within each period."""

    range: Moments = field(default_factory=Moments)
    positions: dict[Period, Moments] = field(default_factory=lambda: {period: Moments() for period in SECONDS})

    def add(self, seconds: Array) -> None:
        """Add points in time (N,), none of them missing."""
        self.range += Moments.of(seconds)
        for period in SECONDS:
            self.positions[period] += Moments.of(phases(seconds, period))

    def periods(self) -> tuple[Period, ...]:
        """Return the periods of which the values span at least two, and within which they are at several positions."""
        span = self.range.maximum - self.range.minimum if self.range.count else 0.0
        return tuple(
            period
            for period, seconds in SECONDS.items()
            if span >= MIN_PERIODS * seconds and not self.positions[period].is_constant
        )
