"""Approximation of an expansion by few of its terms: sparse Bayesian learning with integrals instead of sums over rows.

The likelihood is exp(-1/(2 sigma^2) integral |f(x; w) - f(x)|^2 dx) [BURNAEV; THEORY 19], which depends on
integrals of products of two terms only. In coordinates with these inner products f and each term are columns of
numbers: a regression with given noise. Without noise, terms can also be selected forward and backward by least-squares
errors. This pursuit comes first, since it takes R^2 for each of R terms instead of R^3; where few terms are needed the
regression is learned as well. The shortest sum of both is taken.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from relevance_bayes.core.basis import Inputs
from relevance_bayes.core.errors import DataError, SparseBayesError
from relevance_bayes.core.fitting import FitLog, iterate, pose
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Indices
from relevance_bayes.tasks.approximation.columns import ColumnSpan, TermColumns
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.approximation.pursuit import Chosen, pursue

WIDER = (1.5, 2.0, 3.0)
"""Multiples of its width that each centre may have as well: two clusters of rows are two wide bumps."""

MAX_CANDIDATES = 8_000
"""Terms above which no wider ones are added."""

MIN_ERROR = 1e-5
"""The least error: the coordinates have an error of 1e-6 themselves."""

SHARE_OF_NOISE, MIN_NOISE = 0.25, 1e-9
"""The factor by which the noise falls until the requested error is reached, and its least value."""

MAX_LEARNED = 100
"""Terms above which a fit is slow and finds no fewer than the pursuit."""


@dataclass(frozen=True, eq=False)
class Approximation:
    """The `expansion`, on the centres of the terms `rows` (R,), and its error.

    `error` is |f - f_R| over |f|, both without the constant, |f|^2 the integral of f^2 over R^d. `path` (number, error)
    has the least error found with each number of terms, from 0 on, where it is less than that with fewer.
    """

    expansion: KernelExpansion
    rows: Indices
    error: float
    path: tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False)
class Path:
    """The best columns found for each number of columns, and their error."""

    best: dict[int, tuple[Chosen, float]]

    def visit(self, chosen: Chosen, error: float) -> None:
        """Keep columns whose error is less than that of earlier ones of the same number; that of none is known."""
        if chosen and error < self.best.get(len(chosen), (chosen, inf))[1]:
            self.best[len(chosen)] = chosen, error

    def shortest(self, error: float, max_functions: int) -> Chosen:
        """The fewest columns that reach the error, at most `max_functions`; else those of the least error."""
        possible = {number: one for number, one in self.best.items() if number <= max_functions}
        reached = [number for number, (_, missed) in possible.items() if missed <= error]
        number = min(reached) if reached else min(possible, key=lambda number: possible[number][1])
        return possible[number][0]

    @property
    def falling(self) -> tuple[tuple[int, float], ...]:
        """Numbers and errors, without numbers whose error is not less than with fewer columns."""
        falling: list[tuple[int, float]] = []
        for number in sorted(self.best):
            error = self.best[number][1]
            if not falling or error < falling[-1][1]:
                falling.append((number, error))
        return tuple(falling)


def approximate(whole: KernelExpansion, *, error: float = MIN_ERROR, max_functions: int | None = None) -> Approximation:
    """The end of `approximating`, see there."""
    (last,) = deque(approximating(whole, error=error, max_functions=max_functions), maxlen=1)
    if isinstance(last, int):
        raise SparseBayesError("expected the last step to be an approximation")
    return last


def approximating(
    whole: KernelExpansion, *, error: float = MIN_ERROR, max_functions: int | None = None, fit_log: FitLog | None = None
) -> Iterator[int | Approximation]:
    """As few terms as reach the `error`, at most `max_functions`; their coefficients are those of least error.

    They have the centres of the whole's terms, and their widths or up to three times as much. Yields the number of
    terms at each step of the pursuit, which is recorded in the `fit_log`, then the approximation. The fits after the
    pursuit take seconds, and are repeated when it is resumed.

    Raises DataError for an error not in (0, 1), a `max_functions` below 1, and an f that is constant.
    """
    if not 0.0 < error < 1.0:
        raise DataError(f"expected an error above 0 and below 1, got {error:g}")
    if max_functions is not None and max_functions < 1:
        raise DataError(f"expected at least one term, got {max_functions}")
    candidates = candidates_of(whole)
    seen, path = TermColumns.of(candidates, error), Path({0: ((), 1.0)})
    max_error, enough = max(error, MIN_ERROR), whole.size if max_functions is None else max_functions
    yield from pursue(
        seen.G, seen.t, error=max_error, max_functions=enough, visit=path.visit, fit_log=fit_log or FitLog()
    )
    if len(path.shortest(max_error, enough)) <= MAX_LEARNED:
        noise = max_error / np.sqrt(len(seen.t))
        while not _learn(seen, noise, path, max_error, enough) and noise > MIN_NOISE:
            noise *= SHARE_OF_NOISE
    chosen = np.array(sorted(_confirmed(seen, path, max_error, enough)), np.intp)
    weights = seen.nearest(chosen)
    missed = float(np.linalg.norm(seen.t - seen.G[:, chosen] @ weights))
    kept = candidates.take(chosen, seen.coefficients(weights, chosen))
    yield Approximation(kept, chosen % whole.size, missed, path.falling)


def candidates_of(whole: KernelExpansion) -> KernelExpansion:
    """The whole's terms, and wider ones on the same centres with coefficients of 0."""
    return whole.widened(WIDER) if (len(WIDER) + 1) * whole.size <= MAX_CANDIDATES else whole


def _confirmed(seen: TermColumns, path: Path, max_error: float, enough: int) -> Chosen:
    """The shortest whose error is what was recorded: a pursuit's way back adds up its losses, and their rounding."""
    while True:
        chosen = path.shortest(max_error, enough)
        recorded = path.best[len(chosen)][1]
        measured = ColumnSpan.none(len(seen.t)).moved(seen.G, chosen).missed(seen.t)
        if measured <= max_error or recorded > max_error:
            return chosen
        path.best[len(chosen)] = chosen, measured


def _learn(seen: TermColumns, noise: float, path: Path, max_error: float, enough: int) -> bool:
    """Put what a fit meets into the path; whether the error wanted was reached, or terms enough."""
    spec = Spec(GaussianNoise(noise), (Inputs(),))
    span = ColumnSpan.none(len(seen.t))
    for state in iterate(pose(seen.G, seen.t, spec), spec):
        if span.chosen == state.active:
            continue
        span = span.moved(seen.G, state.active)
        error = span.missed(seen.t)
        path.visit(span.chosen, error)
        if error <= max_error or len(span.chosen) >= enough:
            return True
    return False
