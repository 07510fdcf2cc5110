"""Which members of a pool stay, and through how many functions: the cheapest predictions that lose little."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from app.sparse_bayes.pooling.densities import Densities
from app.sparse_bayes.pooling.learning import Ordered, through
from app.sparse_bayes.types import Array

PRICES = 24
"""Numbers of functions that are tried of each set of members."""

MEMBER_COST, FUNCTION_COST, PAIR_COST = 15_000.0, 30.0, 1.0
"""What the prediction of one row costs, in multiply-adds: of each member, of each of its functions with the inputs, and
of each pair of functions, for the variance. Measured against calls of numpy: one costs as much as a thousand."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """The places (K,) of the members that stay in a pool, their weights (K,) and numbers of functions (K,).

    `score` is its fold score in nats a row, `cost` that of a row's prediction in multiply-adds.
    """

    places: tuple[int, ...]
    weights: Array
    sizes: tuple[int, ...]
    score: float
    cost: float


def prediction_cost(functions: int, inputs: int) -> float:
    """The cost of one row's prediction by one member, in multiply-adds."""
    return MEMBER_COST + functions * (FUNCTION_COST * inputs + PAIR_COST * 2.0 * functions)


def cheapest(
    members: Sequence[Ordered], whole: Densities, t: Array, *, max_score_loss: float, max_cost: float
) -> Reduction:
    """The reduction of least cost whose fold score is at most `max_score_loss` below that of the whole pool.

    Where that would cost more than `max_cost`, the one of the best score that does not; if none does, the cheapest.
    `whole` (N, K) are the fold predictions of the members before they are reduced, t (N,) the targets.
    """
    least = float(whole.log_density(t, whole.best_weights(t)).mean()) - max_score_loss
    tried = [*_tried(members, whole, t)]
    good = [one for one in tried if one.score >= least and one.cost <= max_cost]
    if good:
        return min(good, key=lambda one: one.cost)
    affordable = [one for one in tried if one.cost <= max_cost]
    if affordable:
        return max(affordable, key=lambda one: one.score)
    return min(tried, key=lambda one: one.cost)


def _tried(members: Sequence[Ordered], whole: Densities, t: Array) -> Iterator[Reduction]:
    """Of each set of members, with its best weights, from all functions to none.

    A function enters where its gain times its member's weight is above one price for all of the set.
    """
    inputs = [member.whole.problem.X.shape[1] for member in members]
    for count in range(1, len(members) + 1):
        for places in combinations(range(len(members)), count):
            weights = whole.taken(np.array(places)).best_weights(t)
            some = [members[place] for place in places]
            gains = np.concatenate([one.chosen.gains * weight for one, weight in zip(some, weights, strict=True)])
            prices = np.unique(np.quantile(gains, np.linspace(0.0, 1.0, PRICES))) if len(gains) else np.zeros(1)
            for price in prices:
                sizes = tuple(one.worth(price / weight) for one, weight in zip(some, weights, strict=True))
                score = float(through(some, sizes).log_density(t, weights).mean())
                cost = sum(prediction_cost(size, inputs[place]) for size, place in zip(sizes, places, strict=True))
                yield Reduction(places, weights, sizes, score, cost)
