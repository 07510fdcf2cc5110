"""Metrics and diagnostics of predictions."""

from dataclasses import dataclass
from typing import Annotated, Generic, Literal, TypeAlias, TypeVar

from relevance_bayes.types.annotations import OneOf
from relevance_bayes.types.jobs import JobBase
from relevance_bayes.types.json_schema import wire
from relevance_bayes.types.values import Label

M_co = TypeVar("M_co", covariant=True)
P_co = TypeVar("P_co", covariant=True)

NumberMetric: TypeAlias = Literal["rmse", "mae", "nll"]
ClassMetric: TypeAlias = Literal["error", "log_loss", "brier"]
Metric: TypeAlias = NumberMetric | ClassMetric


@dataclass(frozen=True)
class Coverage:
    """The intervals between which so many percent of what comes should be."""

    __pydantic_config__ = wire()

    percent: int
    share: float
    """Of the rows, how many were in theirs: `percent`/100 where predictions are right."""
    width: float
    """Their mean width, in the target's units: the less, the better."""


@dataclass(frozen=True)
class NumberMetrics:
    """Predictions of numbers beside what came; null of no rows."""

    __pydantic_config__ = wire()

    rmse: float | None
    """Root of the mean squared error of the mean, in the target's units."""
    mae: float | None
    """Mean absolute error of the mean."""
    r2: float | None
    """Share of the target's variance that is explained: 1 at best."""
    nll: float | None
    """Mean negative log density of what came, in nats: the less, the better."""
    rows_of_zero_density: int
    """Rows that `nll` leaves out: the version held what came for impossible."""
    coverage: tuple[Coverage, ...]
    """At 50, 80 and 95 percent."""


@dataclass(frozen=True)
class ResidualBin:
    """Rows whose predictions are neighbours."""

    __pydantic_config__ = wire()

    rows: int
    lower: float
    upper: float
    mean_prediction: float
    """The mean of them."""
    mean_residual: float
    """The mean of target less prediction: near 0 where nothing is left to learn."""
    mean_absolute_residual: float
    """The mean of its size."""


@dataclass(frozen=True)
class NumberDiagnostics:
    """Diagnostics of residuals, for pictures."""

    __pydantic_config__ = wire()

    bin_edges: tuple[float, ...]
    """Between the bins of `standardised`, of which the outer two are open."""
    standardised_residuals: tuple[int, ...]
    """Rows by (target - mean)/sd."""
    pit: tuple[float, ...]
    """Shares of rows by P(y <= what came), in bins of equal width: flat where predictions are right, heaped at both
    ends where they are too sure.
    """
    residuals: tuple[ResidualBin, ...]
    """Bins of about as many rows, in the predictions' order."""


@dataclass(frozen=True)
class Area:
    """The chance that a row of a class scores above another row, and by how much that may be off."""

    __pydantic_config__ = wire()

    value: float
    tolerance: float
    """0 up to a million probabilities; beyond, they are counted in fine bins."""


@dataclass(frozen=True)
class ClassMetrics:
    """Predictions of classes beside what came; null of no rows."""

    __pydantic_config__ = wire()

    error: float | None
    """Share of rows whose most probable class was not theirs."""
    log_loss: float | None
    """Mean negative log probability of the class, in nats."""
    brier: float | None
    """Half of the mean squared distance from certainty."""
    auc: Area | None
    """Mean of `areas`; null where rows are of one class."""
    ece: float | None
    """By how much the predicted label's probability is off, on average."""
    rows_of_unknown_class: int
    """Rows of classes never learned: an error each, without a share in `log_loss`."""


@dataclass(frozen=True)
class ReliabilityBin:
    """Rows whose probability is between two bounds."""

    __pydantic_config__ = wire()

    lower: float
    upper: float
    rows: int
    predicted: float
    """The mean of their probabilities."""
    observed: float
    """The observed frequency."""


@dataclass(frozen=True)
class ClassDiagnostics:
    """Diagnostics of classes, for pictures; lists of classes are in the order of `classes`."""

    __pydantic_config__ = wire()

    classes: tuple[Label, ...]
    auc_per_class: tuple[Area | None, ...]
    """Of each class against the rest."""
    confusion: tuple[tuple[int, ...], ...]
    """Rows, by their class and in it by predicted label."""
    confidence: tuple[ReliabilityBin, ...]
    """Of the predicted label."""
    reliability: tuple[tuple[ReliabilityBin, ...], ...]
    """Of each class."""


@dataclass(frozen=True, kw_only=True)
class EvaluationResult(Generic[M_co, P_co]):
    """The result of an evaluation on a dataset."""

    __pydantic_config__ = wire()

    rows: int
    """Those that were judged."""
    rows_without_target: int
    """Those with nothing to be judged by."""
    rows_not_predicted: int
    """Those with a gap, or a category, that the version can't predict for."""
    rows_seen_in_training: int | None = None
    """Those of `rows` that the version was trained on, recognised by the values of inputs and target; a promotion
    leaves them out of `rows`. Null where its training rows are not known: it was imported, or its training dataset
    is deleted.
    """
    metrics: M_co
    diagnostics: P_co | None
    """Null in lists."""


@dataclass(frozen=True, kw_only=True)
class NumbersEvaluation(JobBase):
    """An evaluation of a version that predicts numbers."""

    task: Literal["regression"]
    target: str
    result: EvaluationResult[NumberMetrics, NumberDiagnostics] | None


@dataclass(frozen=True, kw_only=True)
class ClassesEvaluation(JobBase):
    """An evaluation of a version that predicts classes."""

    task: Literal["classification"]
    target: str
    result: EvaluationResult[ClassMetrics, ClassDiagnostics] | None


Evaluation: TypeAlias = Annotated[NumbersEvaluation | ClassesEvaluation, OneOf("task")]
