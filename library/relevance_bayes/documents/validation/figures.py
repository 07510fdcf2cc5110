"""Intervals of the numbers in a report."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf, isclose

from relevance_bayes.records.errors import Fault

MAX_COUNT = 2**53

MAX_VALUE_LENGTH = 24
"""The maximum number of characters of a number that a fault repeats."""


@dataclass(frozen=True)
class Interval:
    """The finite numbers from `minimum` to `maximum`; with `is_open`, excluding these two."""

    minimum: float
    maximum: float
    is_open: bool = False

    def __contains__(self, value: float) -> bool:
        if not -inf < value < inf:
            return False
        if self.is_open:
            return self.minimum < value < self.maximum
        return self.minimum <= value <= self.maximum

    def __str__(self) -> str:
        if self.maximum == inf == -self.minimum:
            return "a finite number"
        if self.maximum == inf:
            return f"a finite number {'above' if self.is_open else 'not below'} {self.minimum:g}"
        if self.minimum == -inf:
            return f"a finite number {'below' if self.is_open else 'not above'} {self.maximum:g}"
        if self.is_open:
            return f"a number above {self.minimum:g} and below {self.maximum:g}"
        return f"a number from {self.minimum:g} to {self.maximum:g}"


FINITE = Interval(-inf, inf)
COUNT = Interval(0, MAX_COUNT)
POSITIVE_COUNT = Interval(1, MAX_COUNT)
SHARE = Interval(0.0, 1.0)
OPEN_SHARE = Interval(0.0, 1.0, is_open=True)
NOT_NEGATIVE = Interval(0.0, inf)
POSITIVE = Interval(0.0, inf, is_open=True)

Figure = tuple[str, float | None, Interval]
"""The place of a number, its value, which may be missing, and its interval."""


def figure_faults(figures: Iterable[Figure]) -> Iterator[Fault]:
    """Yield a fault for each number outside its interval."""
    for where, value, interval in figures:
        if value is not None and value not in interval:
            yield Fault(f"Expected {interval}, got {str(value)[:MAX_VALUE_LENGTH]}.", where)


def difference_faults(pairs: Iterable[tuple[str, float | None, float | None]]) -> Iterator[Fault]:
    """Yield a fault for each number of a report that differs from that of the model, within rounding."""
    for where, value, expected in pairs:
        if not _is_same(value, expected):
            detail = f"Expected {expected}, which follows from the model, got {str(value)[:MAX_VALUE_LENGTH]}."
            yield Fault(detail, where)


def _is_same(value: float | None, expected: float | None) -> bool:
    if value is None or expected is None:
        return value is expected
    return isclose(value, expected, rel_tol=1e-9)
