"""Comparison of two versions on the same rows: where their predictions differ, and by how much."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from app.errors import ConflictError
from app.prediction import USUAL, PredictRequest, ServedVersion, predict
from app.tasks import task_of
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.values import Label
from relevance_bayes.tables.columns import Block, block_rows
from relevance_bayes.tasks.decisions import most_probable
from relevance_bayes.tasks.prediction import Means, PredictOptions, Probabilities, cost_in_rows

AT = "/with"
"""The JSON pointer to the second version in the request."""


@dataclass(frozen=True, eq=False)
class ComparedNumbers:
    """The predictions of two versions of numbers or values for N rows, which count as `cost` predicted rows."""

    first: Means
    second: Means
    faults: tuple[Fault, ...]
    cost: int

    @property
    def difference(self) -> Array:
        """The second version's mean less the first's, (N,)."""
        return self.second.mean - self.first.mean


@dataclass(frozen=True, eq=False)
class ComparedClasses:
    """The probabilities (N, K) of two versions for N rows and the `classes` of either; 0 for a class that one lacks.

    They count as `cost` predicted rows.
    """

    classes: tuple[Label, ...]
    first: Array
    second: Array
    faults: tuple[Fault, ...]
    cost: int

    @property
    def labels(self) -> tuple[Indices, Indices]:
        """The index in `classes` of each version's most probable class, (N,)."""
        return most_probable(self.first), most_probable(self.second)

    @property
    def total_variation(self) -> Array:
        """The total variation distance sum_k |p_k - q_k| / 2, (N,), from 0 to 1."""
        apart: Array = np.abs(self.second - self.first).sum(axis=1)
        return apart / 2.0


Compared: TypeAlias = ComparedNumbers | ComparedClasses


def require_one_question(first: ServedVersion, second: ServedVersion) -> None:
    """Raise ConflictError unless both versions have the same task, inputs and target; InvalidRequestError for tasks
    whose predictions can't be compared."""
    one, other = first.version.report, second.version.report
    for report in (one, other):
        if not task_of(report).is_comparable:
            detail = f"Versions of the task {report.task} have no target and can't be compared."
            raise InvalidRequestError(detail, [Fault(detail, AT)])
    columns, others = dict(first.columns), dict(second.columns)
    differing = [
        f"{what} {ours}, not {theirs}"
        for what, ours, theirs in (
            ("its task is", other.task, one.task),
            ("its target is", repr(other.plan.target), repr(one.plan.target)),
            ("it reads", _listed(others), _listed(columns)),
        )
        if ours != theirs
    ]
    if differing:
        named = f"Version {second.version.number} of model {second.version.model!r}"
        detail = f"{named} can't be compared: {'; '.join(differing)}."
        raise ConflictError(detail, [Fault(detail, AT)])


def noise_columns(first: ServedVersion, second: ServedVersion) -> tuple[str, ...]:
    """Return the columns of both versions that may have the noise sd of each row."""
    given = (served.model.noise_column for served in (first, second))
    return tuple(dict.fromkeys(name for name in given if name is not None))


def compare(first: ServedVersion, second: ServedVersion, block: Block, *, options: PredictOptions = USUAL) -> Compared:
    """Return both versions' predictions for the N rows of a block; raises as `require_one_question` and `predict`."""
    require_one_question(first, second)
    request = PredictRequest(block, options)
    one, other = predict(first, request), predict(second, request)
    faults, cost = (
        one.faults + other.faults,
        sum(cost_in_rows(block_rows(block), p.rows_averaged) for p in (one, other)),
    )
    match one.compared, other.compared:
        case Means() as mean, Means() as another:
            return ComparedNumbers(mean, another, faults, cost)
        case Probabilities() as some, Probabilities() as others:
            classes = _either(some.classes, others.classes)
            return ComparedClasses(classes, _spread(some, classes), _spread(others, classes), faults, cost)
        case _:
            raise TypeError(f"expected two predictions of one kind, got {type(one).__name__}, {type(other).__name__}")


def _either(first: Sequence[Label], second: Sequence[Label]) -> tuple[Label, ...]:
    known = {_key(label) for label in first}
    return (*first, *(label for label in second if _key(label) not in known))


def _spread(found: Probabilities, classes: Sequence[Label]) -> Array:
    """Return the probabilities (N, K) in the order of these classes."""
    places = {_key(label): place for place, label in enumerate(classes)}
    wide = np.zeros((len(found.probabilities), len(classes)))
    wide[:, [places[_key(label)] for label in found.classes]] = found.probabilities
    return wide


def _key(label: Label) -> tuple[bool, Label]:
    """Return a key under which true, 1 and "1" differ."""
    return isinstance(label, bool), label


def _listed(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{name!r} ({kind})" for name, kind in sorted(columns.items()))
