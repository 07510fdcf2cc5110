"""Promotions: requests for them, and comparisons of a challenger with the version to which an alias points."""

from dataclasses import dataclass, field
from typing import Annotated, Generic, Literal, TypeAlias, TypeVar

from relevance_bayes.records.annotations import OneOf, wire
from relevance_bayes.records.evaluations import (
    ClassDiagnostics,
    ClassMetrics,
    Diagnostics,
    EvaluationResult,
    Metric,
    Metrics,
    NumberDiagnostics,
    NumberMetrics,
    ScoringRequest,
)
from relevance_bayes.records.jobs import JobBase

M_co = TypeVar("M_co", covariant=True)
P_co = TypeVar("P_co", covariant=True)

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
