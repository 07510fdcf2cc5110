"""How good a version's predictions for a dataset are."""

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from relevance_bayes.client.answers.jobs import JobBase
from relevance_bayes.types.values import Label

M = TypeVar("M")
P = TypeVar("P")


@dataclass(frozen=True)
class Coverage:
    """The share of rows in the intervals of `percent`, and the mean width of these in the target's units."""

    percent: int
    share: float
    width: float


@dataclass(frozen=True)
class NumberMetrics:
    """Of predictions of numbers; None of no rows."""

    rmse: float | None
    mae: float | None
    r2: float | None
    nll: float | None
    rows_of_zero_density: int
    coverage: tuple[Coverage, ...]


@dataclass(frozen=True)
class ResidualBin:
    """Rows whose predictions are neighbours: mean prediction, residual, and size of that."""

    rows: int
    lower: float
    upper: float
    mean_prediction: float
    mean_residual: float
    mean_absolute_residual: float


@dataclass(frozen=True)
class NumberDiagnostics:
    """What pictures of residuals are drawn of."""

    bin_edges: tuple[float, ...]
    standardised_residuals: tuple[int, ...]
    pit: tuple[float, ...]
    residuals: tuple[ResidualBin, ...]


@dataclass(frozen=True)
class Area:
    """The area under the receiver's curve, and by how much it may be off."""

    value: float
    tolerance: float


@dataclass(frozen=True)
class ClassMetrics:
    """Of predictions of classes; None of no rows."""

    error: float | None
    log_loss: float | None
    brier: float | None
    auc: Area | None
    ece: float | None
    rows_of_unknown_class: int


@dataclass(frozen=True)
class ReliabilityBin:
    """Rows by their probability: the mean of it, and how often it came so."""

    lower: float
    upper: float
    rows: int
    predicted: float
    observed: float


@dataclass(frozen=True)
class ClassDiagnostics:
    """What pictures of classes are drawn of, in the order of `classes`."""

    classes: tuple[Label, ...]
    auc_per_class: tuple[Area | None, ...]
    confusion: tuple[tuple[int, ...], ...]
    confidence: tuple[ReliabilityBin, ...]
    reliability: tuple[tuple[ReliabilityBin, ...], ...]


@dataclass(frozen=True)
class EvaluationResult(Generic[M, P]):
    """What was found, in lists without `diagnostics`; `rows_seen_in_training` is None where that is not known."""

    rows: int
    rows_without_target: int
    rows_not_predicted: int
    metrics: M
    diagnostics: P | None
    rows_seen_in_training: int | None = None


class NumbersEvaluation(JobBase, frozen=True, kw_only=True, tag="regression"):
    """How good predictions of numbers are; `result` once it succeeded."""

    target: str
    result: EvaluationResult[NumberMetrics, NumberDiagnostics] | None


class ClassesEvaluation(JobBase, frozen=True, kw_only=True, tag="classification"):
    """How good predictions of classes are; `result` once it succeeded."""

    target: str
    result: EvaluationResult[ClassMetrics, ClassDiagnostics] | None


Evaluation: TypeAlias = NumbersEvaluation | ClassesEvaluation
