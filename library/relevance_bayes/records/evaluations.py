"""Evaluations and promotions: requests, metrics, diagnostics, and comparisons with the version of an alias."""

from dataclasses import dataclass, field
from typing import Annotated, Generic, Literal, TypeAlias, TypeVar
from uuid import UUID

from relevance_bayes.records.annotations import OneOf, wire
from relevance_bayes.records.jobs import JobBase, JobRequest
from relevance_bayes.records.models import VersionSelector
from relevance_bayes.records.values import Label

M_co = TypeVar("M_co", covariant=True)
P_co = TypeVar("P_co", covariant=True)

NumberMetric: TypeAlias = Literal["rmse", "mae", "nll"]
ClassMetric: TypeAlias = Literal["error", "log_loss", "brier"]
Metric: TypeAlias = NumberMetric | ClassMetric


@dataclass(frozen=True)
class ScoringRequest(JobRequest):
    """A version and a dataset that has its columns."""

    dataset_id: UUID
    """A dataset with the input columns of the version, of the same kinds."""
    version: VersionSelector | None = field(default=None, kw_only=True)
    """The version's number, or an alias, resolved now. Default: the newest."""


@dataclass(frozen=True)
class EvaluationRequest(ScoringRequest):
    """An evaluation of a version on a dataset that has the target."""

    __pydantic_config__ = wire(
        extra="forbid",
        example={"model": "kiosk", "version": "champion", "dataset_id": "01a20411-6a2e-7c58-9f0b-5b7c1a2d3e4f"},
    )

    model: str


@dataclass(frozen=True)
class Coverage:
    """The coverage of the central intervals with this probability in percent."""

    __pydantic_config__ = wire()

    percent: int
    share: float
    """The share of rows within their intervals: `percent`/100 for calibrated predictions."""
    width: float
    """The mean width of the intervals, in the target's units: the lower, the sharper."""


@dataclass(frozen=True)
class NumberMetrics:
    """Metrics of predictions of numbers; null without rows."""

    __pydantic_config__ = wire()

    rmse: float | None
    """Root mean squared error of the mean, in the target's units."""
    mae: float | None
    """Mean absolute error of the mean."""
    r2: float | None
    """Share of the target's variance that is explained: at most 1."""
    nll: float | None
    """Mean negative log density of the targets, in nats: the lower, the better."""
    rows_of_zero_density: int
    """Rows excluded from `nll`: their targets have zero density."""
    coverage: tuple[Coverage, ...]
    """At 50, 80 and 95 percent."""


@dataclass(frozen=True)
class ResidualBin:
    """Rows with adjacent predictions."""

    __pydantic_config__ = wire()

    rows: int
    lower: float
    upper: float
    mean_prediction: float
    """The mean of the predictions."""
    mean_residual: float
    """The mean of target less prediction: near 0 for an unbiased model."""
    mean_absolute_residual: float
    """The mean absolute value of target less prediction."""


@dataclass(frozen=True)
class NumberDiagnostics:
    """Diagnostics of residuals, for plots."""

    __pydantic_config__ = wire()

    bin_edges: tuple[float, ...]
    """The edges between the bins of `standardised_residuals`, of which the outer two are unbounded."""
    standardised_residuals: tuple[int, ...]
    """The number of rows by (target - mean)/sd."""
    pit: tuple[float, ...]
    """The probability integral transform: shares of rows by P(y <= target), in bins of equal width. Uniform for
    calibrated predictions, U-shaped for overconfident ones."""
    residuals: tuple[ResidualBin, ...]
    """Bins of about as many rows, in the order of the predictions."""


@dataclass(frozen=True)
class Area:
    """The area under the ROC curve: the probability that a row of a class scores above another row."""

    __pydantic_config__ = wire()

    value: float
    tolerance: float
    """The maximum error: 0 up to a million probabilities; beyond, they are counted in fine bins."""


@dataclass(frozen=True)
class PositiveClassMetrics:
    """Metrics of the version's positive class against all others, by predicted labels; null where no row counts."""

    __pydantic_config__ = wire()

    label: Label
    rows: int
    """Rows of this class."""
    precision: float | None
    """Share of rows of this class among the rows of known classes that were predicted as it."""
    recall: float | None
    """Share of rows of this class that were predicted as it."""
    specificity: float | None
    """Share of rows of the other known classes that were not predicted as it."""
    f1: float | None
    """The harmonic mean of precision and recall."""
    auc: Area | None
    """The area under the ROC curve of its probability; null where rows are of one class."""


@dataclass(frozen=True)
class ClassMetrics:
    """Metrics of predictions of classes; null without rows."""

    __pydantic_config__ = wire()

    error: float | None
    """Share of rows whose most probable class is not theirs."""
    log_loss: float | None
    """Mean negative log probability of the class, in nats."""
    brier: float | None
    """Half of the mean squared distance between probabilities and classes."""
    auc: Area | None
    """Mean of `areas`; null where rows are of one class."""
    ece: float | None
    """Expected calibration error of the predicted label's probability."""
    rows_of_unknown_class: int
    """Rows of classes unknown in training: an error each, and excluded from `log_loss`."""
    positive: PositiveClassMetrics | None = None
    """Metrics of the version's positive class; null where none was named."""


@dataclass(frozen=True)
class ReliabilityBin:
    """Rows whose probability is between two bounds."""

    __pydantic_config__ = wire()

    lower: float
    upper: float
    rows: int
    predicted: float
    """The mean predicted probability."""
    observed: float
    """The observed frequency."""


@dataclass(frozen=True)
class ClassDiagnostics:
    """Diagnostics of classes, for plots; lists of classes are in the order of `classes`."""

    __pydantic_config__ = wire()

    classes: tuple[Label, ...]
    auc_per_class: tuple[Area | None, ...]
    """For each class against all others."""
    confusion: tuple[tuple[int, ...], ...]
    """The confusion matrix: rows by true class, then by predicted label."""
    confidence: tuple[ReliabilityBin, ...]
    """For the predicted label."""
    reliability: tuple[tuple[ReliabilityBin, ...], ...]
    """For each class."""


@dataclass(frozen=True, kw_only=True)
class EvaluationResult(Generic[M_co, P_co]):
    """The result of an evaluation on a dataset."""

    __pydantic_config__ = wire()

    rows: int
    """Rows with a target and a prediction."""
    rows_without_target: int
    """Rows without a target."""
    rows_not_predicted: int
    """Rows without a prediction, for a missing value or an unknown category."""
    rows_seen_in_training: int | None = None
    """Rows among `rows` that the version was trained on, by the values of inputs and target; a promotion excludes them
    from `rows`. Null where the training rows are not known: the version was imported, or its training dataset is
    deleted."""
    metrics: M_co
    diagnostics: P_co | None
    """Null in lists."""


Metrics: TypeAlias = NumberMetrics | ClassMetrics
Diagnostics: TypeAlias = NumberDiagnostics | ClassDiagnostics
AnyEvaluationResult: TypeAlias = EvaluationResult[Metrics, Diagnostics]


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


Criterion: TypeAlias = Literal["interval", "estimate"]
"""The quantity that must exceed the margin: the lower end of the interval, or the estimate."""


@dataclass(frozen=True, kw_only=True)
class PromotionOptions(ScoringRequest):
    """A promotion: the alias moves to a version, the challenger, if it is better than the current one on a dataset."""

    __pydantic_config__ = wire(
        extra="forbid",
        example={"version": "challenger", "dataset_id": "01a20411-6a2e-7c58-9f0b-5b7c1a2d3e4f", "metric": "nll"},
    )

    metric: Metric | None = None
    """The compared metric, lower is better: `rmse` (the default), `mae` or `nll` of numbers, `log_loss` (the default),
    `brier` or `error` of classes."""
    margin: float = field(default=0.0, metadata={"ge": 0.0, "allow_inf_nan": False})
    """The improvement that the challenger has to exceed."""
    criterion: Criterion = "interval"
    """The figure that has to exceed the margin: the lower end of the 95 % interval, or the estimate."""
    seed: int = field(default=0, metadata={"ge": 0, "le": 2**63 - 1})
    """Has no effect: the interval is not random."""
    groups: str | None = None
    """The column whose values identify rows that belong together (patient, machine): the comparison is then between
    groups. Default: the column by which the challenger, or else the champion, was split, if the dataset has it."""


@dataclass(frozen=True, kw_only=True)
class PromotionRequest(PromotionOptions):
    """The request for a promotion of an alias of a model."""

    model: str
    alias: str


@dataclass(frozen=True)
class Improvement:
    """The metric of both versions on the same rows, and its reduction by the challenger."""

    __pydantic_config__ = wire()

    metric: Metric
    rows: int
    rows_without_loss: int
    """Rows without such a loss under one of the versions."""
    champion: float | None
    challenger: float | None
    estimate: float | None
    """The champion's less the challenger's: above 0 the challenger is better."""
    lower: float | None
    """The lower end of the 95 % interval: Student's t of the paired differences, wider where these are skewed."""
    upper: float | None
    groups: int | None = None
    """The number of groups of the rows; null for independent rows."""
    effective_groups: float | None = None
    """The effective number of groups of equal size: (sum n)^2 / sum n^2. At least 10 are required."""


@dataclass(frozen=True, kw_only=True)
class PromotionResult(Generic[M_co, P_co]):
    """The result of a promotion."""

    __pydantic_config__ = wire()

    moved: bool
    reason: str
    """The reason, which is also in the alias's history if it moved."""
    improvement: Improvement | None
    """Null where the alias did not exist."""
    rows_seen_in_training: int | None = None
    """Rows that one of the two versions was trained on, which are excluded from all metrics. Null in old promotions."""
    rows_without_challenger_loss: int
    """Rows with a loss under the champion but not under the challenger. With any, the alias does not move."""
    challenger: EvaluationResult[M_co, P_co]
    champion: EvaluationResult[M_co, P_co] | None


AnyPromotionResult: TypeAlias = PromotionResult[Metrics, Diagnostics]


@dataclass(frozen=True, kw_only=True)
class PromotionBase(JobBase):
    """A comparison of a version, the challenger, with the champion to which an alias points."""

    target: str
    alias: str
    champion: int | None
    """The version with which it is compared; null where the alias did not exist."""
    metric: Metric
    margin: float
    criterion: Criterion
    seed: int
    """Has no effect."""
    groups: str | None = None
    """The column of groups of dependent rows."""


@dataclass(frozen=True, kw_only=True)
class NumbersPromotion(PromotionBase):
    """Of versions that predict numbers."""

    task: Literal["regression"]
    result: PromotionResult[NumberMetrics, NumberDiagnostics] | None


@dataclass(frozen=True, kw_only=True)
class ClassesPromotion(PromotionBase):
    """Of versions that predict classes."""

    task: Literal["classification"]
    result: PromotionResult[ClassMetrics, ClassDiagnostics] | None


Promotion: TypeAlias = Annotated[NumbersPromotion | ClassesPromotion, OneOf("task")]
