"""The division of a rate among the processes of a service."""

from collections.abc import Sequence

RESERVED = 0.04
"""The part of a rate that is divided equally, so that requests to a process without any so far are not all refused."""


def share_of(own: float, others: Sequence[float], rate: float) -> float:
    """Return the share of a rate for a process with this demand, where `others` have theirs.

    Demands are met as far as they are below a common level (max-min fairness). What they leave is divided equally. The
    shares of all processes that know the same demands sum to the rate.
    """
    n = 1 + len(others)
    reserved = RESERVED * rate / n
    free = rate - n * reserved
    demands = [max(0.0, demand - reserved) for demand in (own, *others)]
    rest = free - sum(demands)
    if rest >= 0.0:
        return reserved + demands[0] + rest / n
    return reserved + min(demands[0], _level(sorted(demands), free))


def _level(ascending: Sequence[float], free: float) -> float:
    """Return the level at which demands that are cut there sum to `free`; they sum to more uncut."""
    below = 0.0
    for index, demand in enumerate(ascending):
        level = (free - below) / (len(ascending) - index)
        if demand >= level:
            return level
        below += demand
    return ascending[-1]
