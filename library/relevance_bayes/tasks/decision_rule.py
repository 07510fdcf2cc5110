"""The decision rule of a request, validated against the classes of a version."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.predictions import ClassPrior, DecisionOptions
from relevance_bayes.records.reports import ClassRows
from relevance_bayes.records.values import Label
from relevance_bayes.tasks.decisions import Decisions, decided, with_priors

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
