"""Promotions as their owner sees them."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from app.api.schemas.jobs.figures import Diagnostics, Metrics, evaluation_result
from app.api.schemas.jobs.shared import JobOut, shared_by_jobs
from app.domain.jobs import Job, scoring_of
from app.domain.requests import PromotionPlan
from app.domain.scoring import Promotion, Proof
from relevance_bayes.types.evaluations import ClassDiagnostics, ClassMetrics, Metric, NumberDiagnostics, NumberMetrics
from relevance_bayes.types.promotions import PromotionResult


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
    result: PromotionResult[NumberMetrics, NumberDiagnostics] | None


class ClassesPromotionOut(PromotionBaseOut):
    """Of versions that predict classes."""

    task: Literal["classification"]
    result: PromotionResult[ClassMetrics, ClassDiagnostics] | None


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
    return shown.model_validate(shared_by_jobs(job) | own)


def _result(found: Promotion, *, pictures: bool) -> PromotionResult[Metrics, Diagnostics]:
    champion = found.champion
    return PromotionResult(
        moved=found.moved,
        reason=found.reason,
        improvement=found.improvement,
        rows_seen_in_training=found.rows_seen_in_training,
        rows_without_challenger_loss=found.rows_without_challenger_loss,
        challenger=evaluation_result(found.challenger, pictures=pictures),
        champion=None if champion is None else evaluation_result(champion, pictures=pictures),
    )
