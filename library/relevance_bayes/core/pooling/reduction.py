"""The reduction of a pool: the members kept and their numbers of functions, of least loss at a bounded cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import sqrt

import numpy as np

from relevance_bayes.core.pooling.densities import Densities, log_normal
from relevance_bayes.core.pooling.learning import Ordered
from relevance_bayes.core.types import Array

MEMBER_COST, INPUT_COST, PAIR_COST = 110_000.0, 9.0, 2.0
"""The cost of the prediction of one row, in multiply-adds: of each member, of each function's inputs, and of each pair
of functions, for the variance. Measured: 25 microseconds a member, .00045 a pair."""

NEGLIGIBLE_LOSS = 0.002
"""Nats a row by which the loss may be above the least for predictions that cost less."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """The indices (K,) of the members kept in a pool, their weights (K,) and numbers of functions (K,).

    `loss` is the estimated loss of the pool's fold score, in nats a row; `cost` that of a row's prediction in
    multiply-adds.
    """

    places: tuple[int, ...]
    weights: Array
    sizes: tuple[int, ...]
    loss: float
    cost: float


def prediction_cost(functions: int, inputs: int) -> float:
    """The cost of one row's prediction by one member, in multiply-adds."""
    return MEMBER_COST + functions * (INPUT_COST * inputs + PAIR_COST * functions)


def affordable_functions(cost: float, inputs: int) -> int:
    """The most functions of a member whose prediction of one row costs at most so many multiply-adds."""
    half = 0.5 * INPUT_COST * inputs
    left = max(cost - MEMBER_COST, 0.0)
    return int((sqrt(half**2 + PAIR_COST * left) - half) / PAIR_COST)


def widening(member: Ordered) -> Array:
    """The factors (M + 1,) by which a member's variance grows through its first 0, 1, ... functions.

    With g the gain in nats a row of the functions left out: the variance that they explain becomes noise, whose
    precision they raise at most by the factor 1 + 2 g, and the mean compensates part of it. On five public tables, from
    30 to 500 functions, new rows lost at most half of that: here the variance grows by the root of 1 + 2 g, a loss of
    1/4 log(1 + 2 g).
    """
    gains = member.chosen.gains
    left = np.append(np.cumsum(gains[::-1])[::-1], 0.0) / member.rows
    return np.asarray(np.sqrt(1.0 + 2.0 * left))


def expected_log_density(folds: Densities, t: Array, weights: Array, wider: Array) -> float:
    """The expected score of a pool in nats a row where its members' variances grow by the factors `wider` (K,).

    The variance (wider_k - 1) v_k that member k no longer explains is an error of its mean too, the same for all
    members: with the shares r_k of the wider densities, E log N(t; m, v) = log N(t; m, v) - (sum_k r_k sd_k)^2 / 2v. A
    wider member has a smaller share, so that the pool loses less than its members.
    """
    here = Densities(folds.means, folds.variances * wider)
    mean, variance = here.product(weights)
    missed = np.vecdot(here.shares(weights), np.sqrt(folds.variances * (wider - 1.0)))
    return float((log_normal(t, mean, variance) - 0.5 * np.square(missed) / variance).mean())


def reduced(
    members: Sequence[Ordered], folds: Densities, t: Array, *, max_score_loss: float, max_cost: float
) -> Reduction:
    """The set of members, each through few functions, of the least loss for a cost of at most `max_cost`.

    Each set has as few functions as lose `max_score_loss` nats a row, the loss by members left out included, or as
    `max_cost` allows. `folds` (n, K) are predictions of held-out rows with targets t (n,).
    """
    best = float(folds.log_density(t, folds.best_weights(t)).mean())
    tried = []
    for count in range(1, len(members) + 1):
        for places in combinations(range(len(members)), count):
            some = folds.taken(np.array(places))
            smallest = _smallest([members[place] for place in places], some, t, best, max_score_loss, max_cost)
            if smallest is not None:
                tried.append(replace(smallest, places=places))
    min_loss = min(one.loss for one in tried)
    max_loss = max(min_loss, min(min_loss + NEGLIGIBLE_LOSS, max_score_loss))
    return min((one for one in tried if one.loss <= max_loss), key=lambda one: one.cost)


def _smallest(
    members: Sequence[Ordered], folds: Densities, t: Array, best: float, max_loss: float, max_cost: float
) -> Reduction | None:
    """All these members through few functions, `loss` below `best`; None where several cost too much.

    A function enters where what it brings the whole reaches one price for all of them: of the prices at which one more
    enters, the greatest that loses at most `max_loss`, else the least that costs at most `max_cost`.
    """
    weights = folds.best_weights(t)
    widenings, found = [widening(member) for member in members], None
    for sizes in _sizes(members, weights * folds.shares(weights).mean(axis=0)):
        cost = sum(
            prediction_cost(size, member.whole.problem.X.shape[1]) for size, member in zip(sizes, members, strict=True)
        )
        if cost > max_cost and (found is not None or len(members) > 1):
            break
        wider = np.array([one[size] for one, size in zip(widenings, sizes, strict=True)])
        loss = max(best - expected_log_density(folds, t, weights, wider), 0.0)
        found = Reduction(tuple(range(len(members))), weights, sizes, loss, cost)
        if loss <= max_loss or cost > max_cost:
            break
    return found


STEPS = 64
"""Prices that are tried."""


def _sizes(members: Sequence[Ordered], counts: Array) -> Iterator[tuple[int, ...]]:
    """Numbers of functions (K,), from none to all.

    What a function brings its member counts in the whole by the member's weight times its share in the mean, `counts`
    (K,): the slope of the whole's loss in the log of the member's variance, as far as the others don't make up for it.
    """
    gains = np.concatenate([member.chosen.gains * count for member, count in zip(members, counts, strict=True)])
    prices = np.unique(np.quantile(gains, np.linspace(0.0, 1.0, STEPS))) if len(gains) else np.zeros(1)
    for price in [np.inf, *prices[::-1]]:
        yield tuple(member.worth(price / count) for member, count in zip(members, counts, strict=True))
