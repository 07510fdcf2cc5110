"""Requests for evaluations and promotions, and their plans."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from uuid import UUID

from app.jobs.schemas import VersionSelector
from relevance_bayes.records.annotations import wire
from relevance_bayes.records.evaluations import Metric
from relevance_bayes.records.jobs import JobRequest
from relevance_bayes.records.promotions import Criterion
from relevance_bayes.records.values import Task


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
class EvaluationPlan:
    """An evaluation request, resolved to the number of a version, which predicts `target`."""

    model: str
    version: int
    task: Task
    target: str
    kind: Literal["evaluation"] = "evaluation"


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
class PromotionPlan:
    """A promotion request, resolved to the challenger's number and the alias's `champion`, None without one.

    `groups` is the column whose values identify dependent rows, None where rows are independent.
    """

    model: str
    version: int
    alias: str
    champion: int | None
    task: Task
    target: str
    metric: Metric
    margin: float
    criterion: Criterion
    seed: int
    groups: str | None = None
    kind: Literal["promotion"] = "promotion"


JudgingRequest: TypeAlias = EvaluationRequest | PromotionRequest
"""The requests for jobs that compare predictions with the target."""
