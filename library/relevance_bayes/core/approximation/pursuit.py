"""Few columns whose sums come near one more: forward past the error wanted, back to it, and again while that helps.

What the least-squares error gains by a column, (g'r)^2 / |g - its projection|^2, and loses without one, w_j^2 /
(G'G)^-1_jj, is known for all of them at once. The way forward alone takes up to twice as many, since what enters first
is needed no longer when the rest is there.
"""

from collections.abc import Callable, Generator, Iterator
from functools import partial
from math import inf, sqrt

import numpy as np
import scipy

from relevance_bayes.core.approximation.columns import Span
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.types import Array

FORWARD_SHARE = 0.5
"""Share of the error wanted to which the ways forward lead."""

MAX_WAYS = 5
"""Ways forward and back; each but the first begins with what the last one left."""

MORE_COLUMNS = 16
"""Where so many columns are allowed at most, they lead to twice as many and these."""

MIN_OUTSIDE = 1e-8
"""Columns of which less than this share of the square is outside the span are not chosen."""

REFACTORED = 16
"""Columns that leave before the inverse is made anew."""

REBUILT = 500
"""Columns that enter before their basis is made anew: half a minute's work, and a tenth more of it."""

Chosen = tuple[int, ...]
Visit = Callable[[Chosen, float], None]


def pursue(G: Array, t: Array, *, error: float, max_functions: int, visit: Visit, fit_log: FitLog) -> Iterator[int]:
    """Call `visit` with columns of G (k, J), of norm 1, and the error of the best of their sums to t (k,), on every
    way.

    As few as reach the `error`, or at most `max_functions`. Yields their number at checkpoints; what entered and left
    up to there is in the `fit_log`.
    """
    start: Chosen = ()
    best = (inf, 0)
    for _ in range(MAX_WAYS):
        far = yield from _forward(
            G,
            t,
            start,
            error=FORWARD_SHARE * error,
            max_functions=2 * max_functions + MORE_COLUMNS,
            visit=visit,
            fit_log=fit_log,
        )
        start, missed = yield from _back(
            G, t, far, error=error, max_functions=max_functions, visit=visit, fit_log=fit_log
        )
        reached = (max(missed, error), len(start))
        if reached >= best:
            return
        best = reached


def _forward(
    G: Array, t: Array, start: Chosen, *, error: float, max_functions: int, visit: Visit, fit_log: FitLog
) -> Generator[int, None, Chosen]:
    """Each time the column that gains most, until the error is below this, or `max_functions` are in."""
    chosen, more = start, True
    while more:
        entered = fit_log.once(partial(_entered, G, t, chosen, error=error, max_functions=min(max_functions, *G.shape)))
        for number, missed in entered.tolist():
            chosen = (*chosen, int(number))
            visit(chosen, missed)
        yield len(chosen)
        more = len(entered) == REBUILT
    return chosen


def _entered(G: Array, t: Array, start: Chosen, *, error: float, max_functions: int) -> Array:
    """Up to `REBUILT` columns that enter, and what is missed with each and those before it: (n, 2)."""
    span = Span.none(len(t)).moved(G, start)
    Q = np.empty((len(t), max(min(max_functions, len(start) + REBUILT), len(start))))
    Q[:, : len(start)] = span.Q
    left = t - span.Q @ (span.Q.T @ t)
    apart = 1.0 - np.square(span.Q.T @ G).sum(axis=0)
    slope = left @ G
    entered: list[tuple[int, float]] = []
    for place in range(len(start), Q.shape[1]):
        if float(np.linalg.norm(left)) <= error:
            break
        gains = np.where(apart > MIN_OUTSIDE, np.square(slope) / np.maximum(apart, MIN_OUTSIDE), 0.0)
        number = int(gains.argmax())
        if gains[number] <= 0.0:
            break
        before, direction = Q[:, :place], G[:, number]
        for _ in range(2):
            direction = direction - before @ (before.T @ direction)
        direction = direction / np.linalg.norm(direction)
        Q[:, place] = direction
        along, there = direction @ G, float(direction @ left)
        apart -= np.square(along)
        slope -= there * along
        left = left - there * direction
        entered.append((number, float(np.linalg.norm(left))))
    return np.array(entered, np.float64).reshape(-1, 2)


def _back(
    G: Array, t: Array, start: Chosen, *, error: float, max_functions: int, visit: Visit, fit_log: FitLog
) -> Generator[int, None, tuple[Chosen, float]]:
    """Each time without the column that is missed least.

    The fewest that are near enough, or `max_functions` where none of so many are, and what they miss.
    """
    chosen, found = start, (start, inf)
    while chosen:
        for place, missed in fit_log.once(partial(_falling_out, G, t, chosen)).tolist():
            if place >= 0:
                chosen = (*chosen[: int(place)], *chosen[int(place) + 1 :])
            visit(chosen, missed)
            if len(chosen) <= max_functions and (missed <= error or found[1] == inf):
                found = chosen, missed
        yield len(chosen)
    return found


def _falling_out(G: Array, t: Array, chosen: Chosen) -> Array:
    """The places of columns that leave, that which is missed least first, and what is missed without it: (n, 2).

    The first row is -1 and what all `chosen` miss. Without column j the inverse P = (G'G)^-1 falls by P_:j P_j: / P_jj
    and the weights by P_:j w_j / P_jj.
    """
    orthogonal, upper = np.linalg.qr(G[:, list(chosen)])
    turned = scipy.linalg.solve_triangular(upper, np.column_stack([orthogonal.T @ t, np.eye(len(chosen))]))
    weights, inverse = turned[:, 0], turned[:, 1:] @ turned[:, 1:].T
    square = float(np.square(t - orthogonal @ (orthogonal.T @ t)).sum())
    left = [(-1, sqrt(square))]
    for _ in range(min(REFACTORED, len(chosen))):
        losses = np.square(weights) / inverse.diagonal()
        place = int(losses.argmin())
        square += float(losses[place])
        rest = np.delete(np.arange(len(weights)), place)
        column, pivot = inverse[rest, place], float(inverse[place, place])
        weights = weights[rest] - column * (float(weights[place]) / pivot)
        inverse = inverse[np.ix_(rest, rest)] - np.outer(column, column) / pivot
        left.append((place, sqrt(square)))
    return np.array(left, np.float64)
