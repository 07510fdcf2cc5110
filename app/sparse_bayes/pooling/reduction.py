"""Which members of a pool stay, and through how many functions: what loses least among predictions of bounded cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from app.sparse_bayes.pooling.densities import Densities
from app.sparse_bayes.pooling.learning import Ordered
from app.sparse_bayes.types import Array

MEMBER_COST, INPUT_COST, PAIR_COST = 110_000.0, 9.0, 2.0
"""What the prediction of one row costs, in multiply-adds: of each member, of each function's inputs, and of each pair
of functions, for the variance. Measured: 25 microseconds a member, .00045 a pair."""

NEXT_TO_NOTHING = 0.002
"""Nats a row by which the loss may be above the least for predictions that cost less."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """The places (K,) of the members that stay in a pool, their weights (K,) and numbers of functions (K,).

    `loss` is what the pool's fold score is estimated to lose by it, in nats a row; `cost` that of a row's prediction in
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


def losses(member: Ordered) -> Array:
    """What a member's score is estimated to lose through its first 0, 1, ... functions, (M + 1,), in nats a row.

    With g the nats a row that the functions left out would bring: the variance that they explain goes to the noise,
    whose precision they raise by the factor 1 + 2 g at most, which costs 1/2 log(1 + 2 g). The mean makes up for some
    of it. On five public tables, from 30 to 500 functions, new rows lost at most half of that, which is taken here.
    """
    gains = member.chosen.gains
    left = np.append(np.cumsum(gains[::-1])[::-1], 0.0) / member.rows
    return np.asarray(0.25 * np.log1p(2.0 * left))


def reduced(
    members: Sequence[Ordered], folds: Densities, t: Array, *, max_score_loss: float, max_cost: float
) -> Reduction:
    """The set of members, each through few functions, that loses least for a cost of at most `max_cost`.

    Each set has as few functions as lose `max_score_loss` nats a row together with what the members left out would have
    brought, or what `max_cost` allows. `folds` (n, K) are predictions of rows with targets t (n,) by what was learned
    without them.
    """
    best = float(folds.log_density(t, folds.best_weights(t)).mean())
    tried = []
    for count in range(1, len(members) + 1):
        for places in combinations(range(len(members)), count):
            some = folds.taken(np.array(places))
            weights = some.best_weights(t)
            lost = max(best - float(some.log_density(t, weights).mean()), 0.0)
            left = max(max_score_loss - lost, 0.0)
            fewest = _fewest([members[place] for place in places], weights, left, max_cost)
            if fewest is not None:
                sizes, loss, cost = fewest
                tried.append(Reduction(places, weights, sizes, lost + loss, cost))
    least = min(one.loss for one in tried)
    most = max(least, min(least + NEXT_TO_NOTHING, max_score_loss))
    return min((one for one in tried if one.loss <= most), key=lambda one: one.cost)


def _fewest(
    members: Sequence[Ordered], weights: Array, max_loss: float, max_cost: float
) -> tuple[tuple[int, ...], float, float] | None:
    """The functions, loss and cost of some members; None where several cost too much whatever they keep.

    A function enters where its gain times its member's weight reaches one price for all of them: of the prices at which
    one more enters, the greatest that loses at most `max_loss`, else the least that costs at most `max_cost`.
    """
    found = None
    for sizes in _sizes(members, weights):
        cost = sum(
            prediction_cost(size, member.whole.problem.X.shape[1]) for size, member in zip(sizes, members, strict=True)
        )
        if cost > max_cost and (found is not None or len(members) > 1):
            break
        loss = sum(
            weight * float(losses(member)[size]) for weight, member, size in zip(weights, members, sizes, strict=True)
        )
        found = sizes, loss, cost
        if loss <= max_loss or cost > max_cost:
            break
    return found


STEPS = 64
"""Prices that are tried."""


def _sizes(members: Sequence[Ordered], weights: Array) -> Iterator[tuple[int, ...]]:
    """Numbers of functions (K,), from none to all."""
    gains = np.concatenate([member.chosen.gains * weight for member, weight in zip(members, weights, strict=True)])
    prices = np.unique(np.quantile(gains, np.linspace(0.0, 1.0, STEPS))) if len(gains) else np.zeros(1)
    for price in [np.inf, *prices[::-1]]:
        yield tuple(member.worth(price / weight) for member, weight in zip(members, weights, strict=True))
