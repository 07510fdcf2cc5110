"""The columns that predictions add to their rows, by the task of the version."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from relevance_bayes.client.responses import (
    ComponentsVersion,
    Contribution,
    Prediction,
    SupervisedVersion,
    VersionBase,
)
from relevance_bayes.types.values import Label

COMPONENTS = 10
"""The default number of components shown for a row."""

Cells: TypeAlias = tuple[Label | None, ...]


@dataclass(frozen=True)
class PredictOptions:
    """Options of predictions; `class_priors` and `costs` as given, JSON or a file of it."""

    interval: float
    explain: int | None = None
    class_priors: str | None = None
    costs: str | None = None
    reject_cost: float | None = None
    components: int | None = None
    csv_escape_formulas: bool = False

    @property
    def has_decisions(self) -> bool:
        """Return True where an option requires a decision for each row."""
        return any(given is not None for given in (self.class_priors, self.costs, self.reject_cost))


class Columns(Protocol):
    """The columns of a version's predictions."""

    @property
    def prefix(self) -> str:
        """Return the prefix of their names in a file, whose columns may have the same names."""

    @property
    def classes(self) -> tuple[Label, ...]:
        """Return the predicted classes; none where numbers are predicted."""

    @property
    def noise_column(self) -> str | None:
        """Return the column of the noise sd of rows, if there is one."""

    @property
    def components(self) -> int | None:
        """Return the number of components to request for each row."""

    @property
    def headings(self) -> tuple[str, ...]:
        """Return the headings of the columns that a prediction adds to its row."""

    def cells(self, prediction: Prediction) -> Cells:
        """Return the values of a prediction under `headings`."""


def columns_of(version: VersionBase, required: PredictOptions) -> Columns:
    """Return the columns of a version's predictions."""
    match version:
        case SupervisedVersion():
            return SupervisedColumns(version, required)
        case ComponentsVersion():
            return ComponentsColumns(version, required)
        case _:
            return ValueColumns(version, required)


@dataclass(frozen=True)
class SupervisedColumns:
    """Predictions of numbers or classes."""

    version: SupervisedVersion
    required: PredictOptions

    @property
    def prefix(self) -> str:
        """Return the target."""
        return self.version.target

    @property
    def classes(self) -> tuple[Label, ...]:
        """Return the version's."""
        return self.version.classes

    @property
    def noise_column(self) -> str | None:
        """Return the version's."""
        return self.version.noise_column

    @property
    def components(self) -> int | None:
        """Return the given number, which the service rejects."""
        return self.required.components

    @property
    def headings(self) -> tuple[str, ...]:
        """Return the headings of the columns that a prediction adds to its row."""
        explanation = () if self.required.explain is None else ("because",)
        if not self.classes:
            return ("mean", "sd", "lower", "upper", "support", *explanation)
        decision = ("decision", "expected_cost") if self.required.has_decisions else ()
        probabilities = (f"probability_{label}" for label in self.classes)
        return ("predicted", *probabilities, *decision, "support", *explanation)

    def cells(self, prediction: Prediction) -> Cells:
        """Return the values of a prediction under `headings`."""
        one = prediction
        numbers = (one.mean, one.sd, one.lower, one.upper, one.support)
        cells = self._classes(one) if self.classes else numbers
        return cells if one.explanation is None else (*cells, "; ".join(_because(one)))

    def _classes(self, prediction: Prediction) -> Cells:
        shares = {share.label: share.probability for share in prediction.probabilities or ()}
        decided = prediction.decision
        decision = () if decided is None else (decided.label, decided.expected_cost)
        return (prediction.label, *(shares[label] for label in self.classes), *decision, prediction.support)


@dataclass(frozen=True)
class ValueColumns:
    """Values of a known function or of an image."""

    version: VersionBase
    required: PredictOptions

    classes = ()
    noise_column = None
    headings = ("value",)

    @property
    def prefix(self) -> str:
        """Return the model's name."""
        return self.version.model

    @property
    def components(self) -> int | None:
        """Return the given number, which the service rejects."""
        return self.required.components

    def cells(self, prediction: Prediction) -> Cells:
        """Return the values of a prediction under `headings`."""
        return (prediction.value,)


@dataclass(frozen=True)
class ComponentsColumns:
    """Components of rows."""

    version: ComponentsVersion
    required: PredictOptions

    classes = ()
    noise_column = None

    @property
    def prefix(self) -> str:
        """Return the model's name."""
        return self.version.model

    @property
    def components(self) -> int:
        """Return the given number, else the default."""
        return self.required.components or COMPONENTS

    @property
    def headings(self) -> tuple[str, ...]:
        """Return the headings of the columns that a prediction adds to its row."""
        reported = min(self.components, len(self.version.variances))
        return (*(f"component_{k}" for k in range(1, reported + 1)), "reconstruction_error", "log_density", "novelty")

    def cells(self, prediction: Prediction) -> Cells:
        """Return the values of a prediction under `headings`."""
        one = prediction
        return (*(one.components or ()), one.reconstruction_error, one.log_density, one.novelty)


def _because(response: Prediction) -> Iterator[str]:
    """Yield the terms of the sum of a prediction, as in "baseline: +3; gaussian at row 17: +2.5; others: -0.1"."""
    whole = response.explanation_sum
    if whole is not None:
        yield f"baseline: {whole.baseline:+.4g}"
    yield from map(_contribution, response.explanation or ())
    if whole is not None:
        yield f"others: {whole.others:+.4g}"


def _contribution(one: Contribution) -> str:
    """Return a function and its contribution, as in "gaussian at row 17: +2.5"."""
    place = one.kind if one.row is None else f"{one.kind} at row {one.row}"
    return f"{place if one.input is None else one.input}: {one.contribution:+.4g}"
