"""A cost before and after a change, by alternating pairs of runs."""

import math
import statistics
from collections.abc import Sequence

from scipy.stats import t

PAIRS = 20


def compared(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float, float, float]:
    """The medians of both, the ratio after / before, and the 95 % interval of it.

    The ratio is the exponential of the mean log ratio of a pair, its interval by Student's t.
    """
    logs = [math.log(after / before) for before, after in pairs]
    mean, half = statistics.mean(logs), t.ppf(0.975, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    before, after = (statistics.median(costs) for costs in zip(*pairs, strict=True))
    return before, after, math.exp(mean), math.exp(mean - half), math.exp(mean + half)
