"""The same measurement on many draws, in a few processes, and what its figures come to."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from statistics import fmean, median, stdev

Figures = dict[str, float]


def repeated(measure: Callable[[int], Figures], draws: int, *, processes: int) -> list[Figures]:
    """`measure` of each draw from 0 on, in that order."""
    if processes == 1 or draws == 1:
        return [measure(draw) for draw in range(draws)]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return list(pool.map(measure, range(draws)))


def column(measured: Sequence[Figures], name: str) -> list[float]:
    """One figure of all draws."""
    return [figures[name] for figures in measured]


def mean(measured: Sequence[Figures], name: str) -> float:
    """The mean of a figure over all draws."""
    return fmean(column(measured, name))


def middle(measured: Sequence[Figures], name: str) -> float:
    """The median of a figure over all draws."""
    return median(column(measured, name))


def with_error(measured: Sequence[Figures], name: str, *, times: float = 1.0, digits: int = 3) -> str:
    """A figure's mean and the standard error of that mean."""
    values = [times * value for value in column(measured, name)]
    if len(values) < 2:
        return f"{fmean(values):.{digits}f}"
    return f"{fmean(values):.{digits}f} ± {stdev(values) / math.sqrt(len(values)):.{digits}f}"
