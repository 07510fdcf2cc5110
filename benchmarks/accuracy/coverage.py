"""The calibration of error bars: the share inside the 95 % intervals, and their width far from all data."""

from collections.abc import Sequence
from math import sqrt
from statistics import stdev

from benchmarks.accuracy.measuring import NOTHING, Measured
from benchmarks.accuracy.scoring import FAR
from benchmarks.report import Table

NOTES = (
    (
        "The share of noisy targets inside, pooled over the splits ± two standard errors: the greater of the "
        "binomial one and the one between splits."
    ),
    (
        f"Far away: every input moved by {FAR:g} of its standard deviations; the median predicted sd over the targets' "
        "sd. It grows with the distance where the inputs themselves are functions of the model."
    ),
)


def coverage(title: str, found: Sequence[Measured]) -> Table:
    """A row for each set and a pair of columns for each engine that predicts a distribution."""
    engines = list(dict.fromkeys(one.engine for one in found if one.cell("far") != NOTHING))
    known = {(one.data, one.engine): one for one in found}
    rows = []
    for data in dict.fromkeys(one.data for one in found):
        cells = []
        for engine in engines:
            one = known.get((data, engine))
            cells += [_inside(one), NOTHING if one is None else one.cell("far", digits=2)]
        rows.append((data, *cells))
    columns = (column for engine in engines for column in (f"{engine}: inside 95 %", "sd far away"))
    return Table(f"{title}: coverage", ("set", *columns), tuple(rows), NOTES)


def share(one: Measured) -> str:
    """The pooled share inside, without its error."""
    pooled = _pooled(one)
    return NOTHING if pooled is None else f"{pooled:.3f}"


def _inside(one: Measured | None) -> str:
    pooled = None if one is None else _pooled(one)
    if one is None or pooled is None:
        return NOTHING
    count = sum(figures["measured"] for figures in one.splits)
    error = sqrt(pooled * (1.0 - pooled) / count)
    if len(one.splits) > 1:
        shares = [figures["inside"] / figures["measured"] for figures in one.splits]
        error = max(error, stdev(shares) / sqrt(len(shares)))
    return f"{pooled:.3f} ± {2.0 * error:.3f}"


def _pooled(one: Measured) -> float | None:
    if one.mean("inside") is None:
        return None
    return sum(figures["inside"] for figures in one.splits) / sum(figures["measured"] for figures in one.splits)
