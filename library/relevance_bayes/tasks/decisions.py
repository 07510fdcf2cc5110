"""Decisions from class probabilities: other priors, costs of mistakes, the reject option [TIPPING2001, D.2].

A model infers p(C_k | x); the decision rule is separate from it and can change without new training.
"""

from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.types import Array, Indices, Mask

_MAX_FLOAT = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Decisions:
    """The decisions for N rows, each (N,): the index of the class `chosen`, and whether the row is `rejected`.

    `expected_cost` is that of the decision; of a rejected row, the cost of the rejection.
    """

    chosen: Indices
    expected_cost: Array
    rejected: Mask


def most_probable(probabilities: Array) -> Indices:
    """Return the index of the greatest of each row's probabilities (N, K), the last of equal ones: (N,)."""
    return np.asarray(probabilities.shape[1] - 1 - probabilities[:, ::-1].argmax(axis=1), np.intp)


def with_priors(probabilities: Array, old: Array, new: Array) -> Array:
    """Return the probabilities (N, K) under the class frequencies `new` (K,), from those under `old` (K,).

    p'(C_k | x) = p(C_k | x) new_k/old_k / sum_j p(C_j | x) new_j/old_j, in logarithms: by Bayes' rule p(x | C_k) is
    proportional to p(C_k | x)/old_k, and the density of x in each class does not change. `old` is above 0 where `new`
    is. Where every class with `new` above 0 has the probability 0, the result is `new`.
    """
    with np.errstate(divide="ignore"):
        log_ratio = np.where(new > 0.0, np.log(new) - np.log(np.where(new > 0.0, old, 1.0)), -np.inf)
        log_weight = np.log(probabilities) + log_ratio
        lost = np.isneginf(log_weight).all(axis=1)
        log_weight[lost] = np.log(new)
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def decided(probabilities: Array, costs: Array | None = None, reject_cost: float | None = None) -> Decisions:
    """Return the decision of least expected cost, the last of equal ones, for each row of `probabilities` (N, K).

    R_j(x) = sum_k p(C_k | x) costs[k, j]: `costs` (K, K) are at least 0, rows the truth, columns the decision. Without
    them a mistake costs 1 and a correct decision 0, so that the most probable class is chosen, at the cost 1 - p. A row
    whose least R_j exceeds `reject_cost` is rejected, at that cost (Chow's rule).
    """
    if costs is None:
        chosen = most_probable(probabilities)
        expected = np.maximum(1.0 - _taken(probabilities, chosen), 0.0)
    else:
        with np.errstate(over="ignore"):
            risk = np.minimum(probabilities @ costs, _MAX_FLOAT)
        chosen = most_probable(-risk)
        expected = _taken(risk, chosen)
    if reject_cost is None:
        return Decisions(chosen, expected, np.zeros(len(chosen), np.bool_))
    return Decisions(chosen, np.minimum(expected, reject_cost), expected > reject_cost)


def _taken(values: Array, places: Indices) -> Array:
    return np.asarray(np.take_along_axis(values, places[:, None], axis=1)[:, 0])
