"""How good a version's predictions for a dataset are."""

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from app.client.answers.jobs import JobBase
from app.domain.tables import Label

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
    impossible: int
    coverage: tuple[Coverage, ...]


@dataclass(frozen=True)
class ResidualBin:
    """Rows whose predictions are neighbours: mean prediction, residual, and size of that."""

    rows: int
    lowest: float
    highest: float
    prediction: float
    residual: float
    absolute: float


@dataclass(frozen=True)
class NumberPictures:
    """What pictures of residuals are drawn of."""

    steps: tuple[float, ...]
    standardised: tuple[int, ...]
    pit: tuple[float, ...]
    residuals: tuple[ResidualBin, ...]


@dataclass(frozen=True)
class Area:
    """The area under the receiver's curve, and by how much it may be off."""

    value: float
    within: float


@dataclass(frozen=True)
class ClassMetrics:
    """Of predictions of classes; None of no rows."""

    error: float | None
    log_loss: float | None
    brier: float | None
    auc: Area | None
    ece: float | None
    unknown: int


@dataclass(frozen=True)
class ReliabilityBin:
    """Rows by their probability: the mean of it, and how often it came so."""

    lower: float
    upper: float
    rows: int
    predicted: float
    observed: float


@dataclass(frozen=True)
class ClassPictures:
    """What pictures of classes are drawn of, in the order of `classes`."""

    classes: tuple[Label, ...]
    areas: tuple[Area | None, ...]
    confusion: tuple[tuple[int, ...], ...]
    confidence: tuple[ReliabilityBin, ...]
    reliability: tuple[tuple[ReliabilityBin, ...], ...]


@dataclass(frozen=True)
class EvaluationResult(Generic[M, P]):
    """What was found, in lists without `pictures`; `rows_seen_in_training` is None where that is not known."""

    rows: int
    rows_without_target: int
    rows_not_answered: int
    metrics: M
    pictures: P | None
    rows_seen_in_training: int | None = None


class NumbersEvaluation(JobBase, frozen=True, kw_only=True, tag="regression"):
    """How good predictions of numbers are; `result` once it succeeded."""

    target: str
    result: EvaluationResult[NumberMetrics, NumberPictures] | None


class ClassesEvaluation(JobBase, frozen=True, kw_only=True, tag="classification"):
    """How good predictions of classes are; `result` once it succeeded."""

    target: str
    result: EvaluationResult[ClassMetrics, ClassPictures] | None


Evaluation: TypeAlias = NumbersEvaluation | ClassesEvaluation
