"""The paired difference of a metric between two versions on the same rows, with an interval valid for few rows too.

The interval is Student's t of a ratio estimator over independent units, rows or groups of rows: the standard error is
that of the delete-one jackknife, the degrees of freedom follow from Kish's effective number of units, and the end on
the side of the differences' long tail is moved outwards by a multiple of the Cornish-Fisher term of the studentised
mean. `python -m benchmarks promotion` measures its error rate.
"""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.evaluations import Criterion, Improvement, Metric

GroupKeys: TypeAlias = NDArray[np.uint64]
"""The keys of the rows' groups, (N,)."""

MAX_UNITS = 2**18
"""The most units: further rows share a unit with an earlier row, which bounds the memory."""

MAX_LOSS = 1e290
"""The greatest loss whose sums over any number of rows are finite; greater ones are clipped."""

CONFIDENCE = 0.95

SKEW_FACTOR = 2.0
SKEW_FACTOR_OF_FEW = 200.0
"""The Cornish-Fisher term is multiplied by 2 + 200 / G for G units: with few units the sample skewness is far below the
population's. Chosen by `python -m benchmarks promotion`."""


class PairedDifferences:
    """Sums of the losses by unit; the division of the rows into parts has no effect but rounding."""

    def __init__(self, metric: Metric, *, grouped: bool = False) -> None:
        """Begin without rows; `grouped` where the rows have the key of a group."""
        self._metric: Metric = metric
        self._grouped = grouped
        self._rows = self._left_out = 0
        self._keys = np.empty(0, np.uint64)
        self._sums = np.empty((0, 3))

    def add(self, holder: Array, challenger: Array, groups: GroupKeys | None = None) -> None:
        """Add the losses (N,) of rows under each version, as returned by `losses`, and the keys (N,) of groups."""
        if (groups is not None) != self._grouped:
            raise ValueError(f"expected keys of groups: {self._grouped}, got keys: {groups is not None}")
        known = ~(np.isnan(holder) | np.isnan(challenger))
        rows = int(known.sum())
        places = self._places(rows) if groups is None else self._places_of(groups[known])
        self._left_out += len(known) - rows
        self._rows += rows
        costs = np.minimum(np.column_stack([np.ones(rows), holder[known], challenger[known]]), MAX_LOSS)
        np.add.at(self._sums, places, costs)

    def _places(self, rows: int) -> Indices:
        """Return the units of further rows, each of which is independent."""
        units = min(self._rows + rows, MAX_UNITS)
        self._sums = np.concatenate([self._sums, np.zeros((units - len(self._sums), 3))])
        return np.arange(self._rows, self._rows + rows) % MAX_UNITS

    def _places_of(self, keys: GroupKeys) -> Indices:
        """Return the units of rows with these keys of groups."""
        known = np.union1d(self._keys, keys)
        sums = np.zeros((len(known), 3))
        sums[np.searchsorted(known, self._keys)] = self._sums
        self._keys, self._sums = known, sums
        return np.searchsorted(known, keys)

    def result(self) -> Improvement:
        """Return the difference over all rows."""
        groups = len(self._keys) if self._grouped else None
        if not self._rows:
            return Improvement(self._metric, 0, self._left_out, None, None, None, None, None, groups)
        means = self._sums[:, 1:].sum(axis=0) / self._rows
        figures = np.sqrt(means) if self._metric == "rmse" else means
        holder, challenger = figures.tolist()
        estimate = holder - challenger
        lower, upper = self._interval(means, estimate)
        return Improvement(
            self._metric,
            self._rows,
            self._left_out,
            holder,
            challenger,
            estimate,
            lower,
            upper,
            groups,
            _effective_units(self._sums[:, 0]) if self._grouped else None,
        )

    def _interval(self, means: Array, estimate: float) -> tuple[float, float] | tuple[None, None]:
        if len(self._sums) < 2:
            return None, None
        rows, costs = self._sums[:, 0], self._sums[:, 1:]
        # The derivative of the root at the mean: to first order, the difference of roots is that of means divided so.
        units = 2.0 * np.sqrt(means) if self._metric == "rmse" else np.ones(2)
        away = (costs - rows[:, None] * means) / np.where(units > 0.0, units, 1.0)
        below, above = margins(away[:, 0] - away[:, 1], rows)
        return estimate - below, estimate + above


def margins(residuals: Array, rows: Array) -> tuple[float, float]:
    """Return the distances of the ends of a mean's interval below and above it.

    `residuals` (G,) are the sums over the rows of G >= 2 independent units, less the mean times their `rows` (G,).
    """
    units, total = len(rows), float(rows.sum())
    deviations = residuals * (units - 1) / (total - rows)
    largest = float(np.abs(deviations).max())
    if not largest:
        return 0.0, 0.0
    scaled = deviations / largest
    effective = max(2.0, _effective_units(rows))
    error = largest * math.sqrt(float(np.square(scaled).sum()) / (units * (units - 1)))
    tail = (1.0 - CONFIDENCE) / 2.0
    from scipy.special import stdtrit  # imported here: a process that only predicts does not load scipy

    quantile, normal = float(-stdtrit(effective - 1.0, tail)), float(-stdtrit(math.inf, tail))
    factor = SKEW_FACTOR + SKEW_FACTOR_OF_FEW / effective
    shift = factor * _skewness(scaled) * (2.0 * normal**2 + 1.0) / (6.0 * math.sqrt(effective))
    return error * (quantile + max(0.0, -shift)), error * (quantile + max(0.0, shift))


def _effective_units(rows: Array) -> float:
    """Return Kish's effective number of units, (sum n)^2 / sum n^2."""
    return float(rows.sum()) ** 2 / float(np.square(rows).sum())


def _skewness(values: Array) -> float:
    """Return the adjusted skewness of a sample with a mean of about 0."""
    units = len(values)
    if units < 3:
        return 0.0
    second, third = float(np.mean(values**2)), float(np.mean(values**3))
    return float(third / second**1.5 * math.sqrt(units * (units - 1)) / (units - 2))


MIN_ROWS = 30
MIN_GROUPS = 10
"""The least number of rows, and of groups (of equal size) where rows come in groups, for which an alias moves."""


def verdict(improvement: Improvement, *, margin: float, by: Criterion, lost_rows: int) -> tuple[bool, str]:
    """Return whether the challenger is better by more than the margin, and the sentence that states the decision.

    A challenger that predicts fewer rows than the champion is not better: the omitted rows may be its worst.
    """
    name = improvement.metric
    if improvement.estimate is None or improvement.champion is None or improvement.challenger is None:
        return False, f"Expected rows for which both versions have a {name}, got none."
    champion, challenger = _distinct(improvement.champion, improvement.challenger)
    figures = f"{name} {champion} -> {challenger}, {_difference(improvement)}"
    if lost_rows:
        return False, f"{figures}, but the challenger has no {name} for {lost_rows:,} rows that the champion predicts."
    if (too_few := _too_few(improvement)) is not None:
        return False, f"{figures}, but {too_few}."
    proved, what = improvement.estimate, "the improvement"
    if by == "interval":
        proved, what = improvement.lower if improvement.lower is not None else -math.inf, "the interval's lower end"
    if proved > margin:
        return True, f"{figures}: {what} is above the margin of {margin:g}."
    return False, f"{figures}: {what} is not above the margin of {margin:g}."


def _distinct(one: float, other: float) -> tuple[str, str]:
    """Return both numbers with as many significant digits as distinguish them, from 4 to 6."""
    digits = next((digits for digits in (4, 5) if f"{one:.{digits}g}" != f"{other:.{digits}g}"), 6)
    return f"{one:#.{digits}g}".rstrip("."), f"{other:#.{digits}g}".rstrip(".")


def _difference(improvement: Improvement) -> str:
    estimate = f"improvement {improvement.estimate:.4g}"
    if improvement.lower is None or improvement.upper is None:
        return estimate
    return f"{estimate} (95 %: {improvement.lower:.4g} to {improvement.upper:.4g})"


def _too_few(improvement: Improvement) -> str | None:
    """Return a clause about too few rows or groups for a comparison; None where there are enough."""
    if improvement.rows < MIN_ROWS:
        return f"{_counted(improvement.rows, 'row')} compared, and at least {MIN_ROWS} are needed"
    groups, effective = improvement.groups, improvement.effective_groups
    if groups is not None and effective is not None and effective < MIN_GROUPS:
        size = "" if effective == groups else f", as good as {effective:.1f} of equal size"
        return f"{_counted(groups, 'group')} compared{size}, and at least {MIN_GROUPS} are needed"
    return None


def _counted(number: int, what: str) -> str:
    return f"only 1 {what} was" if number == 1 else f"only {number} {what}s were"
