"""Decisions from class probabilities: other priors, costs of mistakes, the reject option [TIPPING2001, D.2].

A model infers p(C_k | x); the decision rule is separate from it and can change without new training.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.types import Array, Indices, Mask
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.predictions import ClassPrior, DecisionOptions
from relevance_bayes.records.reports import ClassRows
from relevance_bayes.records.values import Label

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


SUM_WITHIN = 1e-5
"""The tolerance of the sum of priors around 1, so that three thirds with six digits are accepted."""


@dataclass(frozen=True, eq=False)
class DecisionRule:
    """The decision between K classes; `priors` (2, K) are those of the training rows and the requested ones."""

    priors: Array | None
    costs: Array | None
    reject_cost: float | None

    def apply(self, probabilities: Array) -> tuple[Array, Decisions]:
        """Return the probabilities (N, K) under the requested priors, and the decisions by them."""
        if self.priors is not None:
            probabilities = with_priors(probabilities, *self.priors)
        return probabilities, decided(probabilities, self.costs, self.reject_cost)


def rule_of(requested: DecisionOptions, classes: Sequence[Label], rows: Sequence[ClassRows]) -> DecisionRule:
    """Return the requested rule for `classes` with so many training `rows` each; raises InvalidRequestError.

    Both are empty for a version that predicts a number.
    """
    if not classes:
        faults = [Fault("A number has no classes to decide between.", pointer=f"/{name}") for name in requested.given]
        raise InvalidRequestError("Decisions are between classes, and this model predicts a number.", faults)
    new, faults = _priors(requested.class_priors, classes)
    faults += _misshapen(requested.costs, classes)
    if new is not None and not faults:
        faults += _unweighable(new, classes, rows)
    if faults:
        raise InvalidRequestError(faults[0].detail, faults)
    costs = None if requested.costs is None else np.array(requested.costs, np.float64)
    if new is None:
        return DecisionRule(None, costs, requested.reject_cost)
    counts = np.array([one.rows for one in rows], np.float64)
    return DecisionRule(np.array([counts / counts.sum(), np.array(new) / sum(new)]), costs, requested.reject_cost)


def _priors(given: tuple[ClassPrior, ...] | None, classes: Sequence[Label]) -> tuple[list[float] | None, list[Fault]]:
    """Return the priors in the order of `classes`, and their faults."""
    if given is None:
        return None, []
    places = {_key(label): place for place, label in enumerate(classes)}
    found: dict[int, float] = {}
    faults: list[Fault] = []
    for number, one in enumerate(given):
        place = places.get(_key(one.label))
        pointer = f"/class_priors/{number}/label"
        if place is None:
            known = ", ".join(map(_label_text, classes))
            faults.append(
                Fault(f"There is no class {_label_text(one.label)}; the classes are {known}.", pointer=pointer)
            )
        elif place in found:
            faults.append(Fault(f"The class {_label_text(one.label)} has a prior already.", pointer=pointer))
        else:
            found[place] = one.prior
    if faults:
        return None, faults
    if missing := [label for place, label in enumerate(classes) if place not in found]:
        without = ", ".join(map(_label_text, missing))
        return None, [Fault(f"Each class needs a prior; there is none for {without}.", pointer="/class_priors")]
    priors = [found[place] for place in range(len(classes))]
    if not abs(sum(priors) - 1.0) <= SUM_WITHIN:
        return None, [Fault(f"The priors sum to {sum(priors):.6g}; they should sum to 1.", pointer="/class_priors")]
    return priors, []


def _misshapen(costs: tuple[tuple[float, ...], ...] | None, classes: Sequence[Label]) -> list[Fault]:
    if costs is None:
        return []
    expected = len(classes)
    if len(costs) != expected:
        detail = f"Expected {expected} rows, one for each true class in the order of `classes`, got {len(costs)}."
        return [Fault(detail, pointer="/costs")]
    return [
        Fault(
            f"Expected {expected} costs, one for each class that may be decided for, got {len(row)}.", pointer=pointer
        )
        for pointer, row in ((f"/costs/{place}", row) for place, row in enumerate(costs))
        if len(row) != expected
    ]


def _unweighable(new: list[float], classes: Sequence[Label], rows: Sequence[ClassRows]) -> list[Fault]:
    unseen = [label for label, prior, one in zip(classes, new, rows, strict=True) if prior and not one.rows]
    return [
        Fault(
            f"No training row has the class {_label_text(label)}, so its prior has to be 0.",
            pointer="/class_priors",
        )
        for label in unseen
    ]


def _key(label: Label) -> tuple[bool, Label]:
    """Return a key by which labels are compared: 1 and 1.0 are one class, 1 and true are not."""
    return isinstance(label, bool), label


def _label_text(label: Label) -> str:
    return str(label).lower() if isinstance(label, bool) else repr(label)
