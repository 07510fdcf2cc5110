"""A cost before and after a change, by alternating pairs of runs."""

import math
import statistics
from collections.abc import Callable, Sequence
from typing import TypeVar

from scipy.stats import t

Run = TypeVar("Run")
Cost = TypeVar("Cost")

PAIRS = 20


def compared(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float, float, float]:
    """The medians of both, the ratio after / before, and the 95 % interval of it.

    The ratio is the exponential of the mean log ratio of a pair, its interval by Student's t.
    """
    logs = [math.log(after / before) for before, after in pairs]
    mean, half = statistics.mean(logs), t.ppf(0.975, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    before, after = (statistics.median(costs) for costs in zip(*pairs, strict=True))
    return before, after, math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def alternating(cost: Callable[[Run], Cost], before: Run, after: Run) -> list[tuple[Cost, Cost]]:
    """The costs of PAIRS runs of both, which take turns in being the first, after one of each that isn't counted."""
    for run in (before, after):
        cost(run)
    return [_pair(cost, before, after, reverse=number % 2 == 1) for number in range(PAIRS)]


def _pair(cost: Callable[[Run], Cost], before: Run, after: Run, *, reverse: bool) -> tuple[Cost, Cost]:
    if reverse:
        second = cost(after)
        return cost(before), second
    return cost(before), cost(after)
