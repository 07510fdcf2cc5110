"""Evaluations as their owner sees them."""

from typing import Annotated, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, Field

from app.api.schemas.jobs.figures import ClassDiagnosticsOut, ClassMetricsOut, NumberDiagnosticsOut, NumberMetricsOut
from app.api.schemas.jobs.shared import JobOut, shared_by_jobs
from app.domain.jobs import Job, scoring_of
from app.domain.requests import EvaluationPlan
from app.domain.scoring import Evaluation

Metrics = TypeVar("Metrics")
Pictures = TypeVar("Pictures")


class EvaluationResultOut(BaseModel, Generic[Metrics, Pictures]):
    """What predictions for a dataset were worth."""

    rows: int = Field(description="Those that were judged.")
    rows_without_target: int = Field(description="Those with nothing to be judged by.")
    rows_not_predicted: int = Field(description="Those with a gap, or a category, that the version can't predict for.")
    rows_seen_in_training: int | None = Field(
        description="Those of `rows` that the version was trained on, recognised by the values of inputs and target; "
        "a promotion leaves them out of `rows`. Null where its training rows are not known: it was imported, or its "
        "training dataset is deleted."
    )
    metrics: Metrics
    diagnostics: Pictures | None = Field(description="Null in lists.")


class NumbersEvaluationOut(JobOut):
    """How good a version's predictions of numbers are."""

    task: Literal["regression"]
    target: str
    result: EvaluationResultOut[NumberMetricsOut, NumberDiagnosticsOut] | None


class ClassesEvaluationOut(JobOut):
    """How good a version's predictions of classes are."""

    task: Literal["classification"]
    target: str
    result: EvaluationResultOut[ClassMetricsOut, ClassDiagnosticsOut] | None


AnyEvaluationOut: TypeAlias = NumbersEvaluationOut | ClassesEvaluationOut
EvaluationOut: TypeAlias = Annotated[AnyEvaluationOut, Field(discriminator="task")]


def evaluation_out(job: Job, *, pictures: bool = True) -> AnyEvaluationOut:
    """An evaluation as it goes out; raises TypeError for a job of another kind."""
    _, plan = scoring_of(job)
    if not isinstance(plan, EvaluationPlan):
        raise TypeError(f"expected an evaluation, got {plan}")
    found = job.result if isinstance(job.result, Evaluation) else None
    own = {"task": plan.task, "target": plan.target, "result": found and told(found, pictures=pictures)}
    shown = NumbersEvaluationOut if plan.task == "regression" else ClassesEvaluationOut
    return shown.model_validate(shared_by_jobs(job) | own, from_attributes=True)


def told(found: Evaluation, *, pictures: bool) -> dict[str, object]:
    """The members of `EvaluationResultOut`."""
    return {
        "rows": found.figures.rows,
        "rows_without_target": found.without_target,
        "rows_not_predicted": found.rows_not_predicted,
        "rows_seen_in_training": found.seen_in_training,
        "metrics": found.figures,
        "diagnostics": found.figures if pictures else None,
    }
