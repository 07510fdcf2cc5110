"""Sparse approximation of a column by few others: forward selection beyond the error, backward elimination, repeated.

The decrease of the squared error by a column, (g'r)^2 / |g - its projection|^2, and the increase without one, w_j^2 /
(G'G)^-1_jj, are known for all columns. Forward selection alone takes up to twice as many, since the first columns
become redundant."""

from collections.abc import Callable, Generator, Iterator
from functools import partial
from math import inf, sqrt

import numpy as np
import scipy

from relevance_bayes.core.fitting import FitLog
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.approximation.columns import ColumnSpan

FORWARD_SHARE = 0.5
"""Share of the requested error at which forward selection ends."""

MAX_PASSES = 5
"""The most passes forward and backward, each from the columns that the last one kept."""

EXTRA_COLUMNS = 16
"""Forward selection ends at twice the allowed number of columns and this many."""

MIN_OUTSIDE = 1e-8
"""Columns of which less than this share of the square is outside the span are not chosen."""

REFACTORED = 16
"""Columns that leave before the inverse is recomputed."""

REBUILT = 500
"""Columns that enter before their basis is recomputed: half a minute, of which a tenth for that."""

Chosen = tuple[int, ...]
Visit = Callable[[Chosen, float], None]


def pursue(G: Array, t: Array, *, error: float, max_functions: int, visit: Visit, fit_log: FitLog) -> Iterator[int]:
    """Call `visit` with sets of columns of G (k, J), of norm 1, and their least-squares error to t (k,).

    As few as reach the `error`, or at most `max_functions`. Yields their number at checkpoints; the columns that
    entered and left are recorded in the `fit_log`.
    """
    start: Chosen = ()
    best = (inf, 0)
    for _ in range(MAX_PASSES):
        far = yield from _forward(
            G,
            t,
            start,
            error=FORWARD_SHARE * error,
            max_functions=2 * max_functions + EXTRA_COLUMNS,
            visit=visit,
            fit_log=fit_log,
        )
        start, found_error = yield from _backward(
            G, t, far, error=error, max_functions=max_functions, visit=visit, fit_log=fit_log
        )
        reached = (max(found_error, error), len(start))
        if reached >= best:
            return
        best = reached


def _forward(
    G: Array, t: Array, start: Chosen, *, error: float, max_functions: int, visit: Visit, fit_log: FitLog
) -> Generator[int, None, Chosen]:
    """Add the column of the greatest gain, until the error is below `error`, or `max_functions` are selected."""
    chosen, more = start, True
    while more:
        entered = fit_log.once(partial(_entered, G, t, chosen, error=error, max_functions=min(max_functions, *G.shape)))
        for number, found_error in entered.tolist():
            chosen = (*chosen, int(number))
            visit(chosen, found_error)
        yield len(chosen)
        more = len(entered) == REBUILT
    return chosen


def _entered(G: Array, t: Array, start: Chosen, *, error: float, max_functions: int) -> Array:
    """Up to `REBUILT` columns that enter, and the error with each and those before it: (n, 2)."""
    span = ColumnSpan.none(len(t)).moved(G, start)
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


def _backward(
    G: Array, t: Array, start: Chosen, *, error: float, max_functions: int, visit: Visit, fit_log: FitLog
) -> Generator[int, None, tuple[Chosen, float]]:
    """Remove the column of the least increase of the error, one after the other.

    Returns the fewest columns that reach the error, else `max_functions` of them, and their error.
    """
    chosen, found = start, (start, inf)
    while chosen:
        for place, found_error in fit_log.once(partial(_removed, G, t, chosen)).tolist():
            if place >= 0:
                chosen = (*chosen[: int(place)], *chosen[int(place) + 1 :])
            visit(chosen, found_error)
            if len(chosen) <= max_functions and (found_error <= error or found[1] == inf):
                found = chosen, found_error
        yield len(chosen)
    return found


def _removed(G: Array, t: Array, chosen: Chosen) -> Array:
    """The positions of columns that leave, that of the least increase first, and the error without it: (n, 2).

    The first row is -1 and the error of all `chosen`. Without column j the inverse P = (G'G)^-1 falls by P_:j P_j: /
    P_jj and the weights by P_:j w_j / P_jj.
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
