"""Promotions as their owner sees them."""

from typing import Annotated, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, Field

from app.api.schemas.jobs.evaluation import EvaluationResultOut, told
from app.api.schemas.jobs.figures import ClassDiagnosticsOut, ClassMetricsOut, NumberDiagnosticsOut, NumberMetricsOut
from app.api.schemas.jobs.shared import FromDomain, JobOut, shared_by_jobs
from app.domain.jobs import Job, scoring_of
from app.domain.requests import PromotionPlan
from app.domain.scoring import Metric, Promotion, Proof

Metrics = TypeVar("Metrics")
Pictures = TypeVar("Pictures")


class ImprovementOut(FromDomain):
    """The metric of both on the same rows, and by how much it is less under the challenger."""

    metric: Metric
    rows: int
    rows_without_loss: int = Field(description="Rows that have no such loss under one of both.")
    champion: float | None
    challenger: float | None
    estimate: float | None = Field(description="The holder's less the challenger's: above 0 the challenger is better.")
    lower: float | None = Field(
        description="Of the 95 % interval: Student's t of the paired differences, wider where these are skewed."
    )
    upper: float | None
    groups: int | None = Field(description="How many groups the rows are of; null where each row stands for itself.")
    effective_groups: float | None = Field(
        description="How many groups of equal size tell as much: (sum n)^2 / sum n^2. At least 10 are needed."
    )


class PromotionResultOut(BaseModel, Generic[Metrics, Pictures]):
    """What came of it."""

    moved: bool
    reason: str = Field(description="Why, as the alias's history has it too where it moved.")
    improvement: ImprovementOut | None = Field(description="Null where the alias pointed nowhere.")
    rows_seen_in_training: int | None = Field(
        description="Rows that one of the two versions was trained on: left out of all figures. Null in promotions of "
        "before they were."
    )
    rows_without_challenger_loss: int = Field(
        description="Rows that cost the holder something and for which the challenger has no such loss. With any, the "
        "alias stays."
    )
    challenger: EvaluationResultOut[Metrics, Pictures]
    champion: EvaluationResultOut[Metrics, Pictures] | None


class PromotionBaseOut(JobOut):
    """Whether a version, the challenger, takes an alias from its holder."""

    target: str
    alias: str
    champion: int | None = Field(
        description="The version with which it is compared; null where there is no such alias."
    )
    metric: Metric
    margin: float
    criterion: Proof
    seed: int = Field(description="Has no effect.")
    groups: str | None = Field(description="The column whose values say which rows belong together.")


class NumbersPromotionOut(PromotionBaseOut):
    """Of versions that predict numbers."""

    task: Literal["regression"]
    result: PromotionResultOut[NumberMetricsOut, NumberDiagnosticsOut] | None


class ClassesPromotionOut(PromotionBaseOut):
    """Of versions that predict classes."""

    task: Literal["classification"]
    result: PromotionResultOut[ClassMetricsOut, ClassDiagnosticsOut] | None


AnyPromotionOut: TypeAlias = NumbersPromotionOut | ClassesPromotionOut
PromotionOut: TypeAlias = Annotated[AnyPromotionOut, Field(discriminator="task")]


def promotion_out(job: Job, *, pictures: bool = True) -> AnyPromotionOut:
    """A promotion as it goes out; raises TypeError for a job of another kind."""
    _, plan = scoring_of(job)
    if not isinstance(plan, PromotionPlan):
        raise TypeError(f"expected a promotion, got {plan}")
    found = job.result if isinstance(job.result, Promotion) else None
    own = {
        "task": plan.task,
        "target": plan.target,
        "alias": plan.alias,
        "champion": plan.champion,
        "metric": plan.metric,
        "margin": plan.margin,
        "criterion": plan.criterion,
        "seed": plan.seed,
        "groups": plan.groups,
        "result": found and _result(found, pictures=pictures),
    }
    shown = NumbersPromotionOut if plan.task == "regression" else ClassesPromotionOut
    return shown.model_validate(shared_by_jobs(job) | own, from_attributes=True)


def _result(found: Promotion, *, pictures: bool) -> dict[str, object]:
    return {
        "moved": found.moved,
        "reason": found.reason,
        "improvement": found.improvement,
        "rows_seen_in_training": found.rows_seen_in_training,
        "rows_without_challenger_loss": found.rows_without_challenger_loss,
        "challenger": told(found.challenger, pictures=pictures),
        "champion": None if found.champion is None else told(found.champion, pictures=pictures),
    }
