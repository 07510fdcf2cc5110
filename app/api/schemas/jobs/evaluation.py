"""Evaluations as their owner sees them."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from app.api.schemas.jobs.figures import evaluation_result
from app.api.schemas.jobs.shared import JobOut, shared_by_jobs
from app.domain.jobs import Job, scoring_of
from app.domain.requests import EvaluationPlan
from app.domain.scoring import Evaluation
from relevance_bayes.types.evaluations import (
    ClassDiagnostics,
    ClassMetrics,
    EvaluationResult,
    NumberDiagnostics,
    NumberMetrics,
)


class NumbersEvaluationOut(JobOut):
    """How good a version's predictions of numbers are."""

    task: Literal["regression"]
    target: str
    result: EvaluationResult[NumberMetrics, NumberDiagnostics] | None


class ClassesEvaluationOut(JobOut):
    """How good a version's predictions of classes are."""

    task: Literal["classification"]
    target: str
    result: EvaluationResult[ClassMetrics, ClassDiagnostics] | None


AnyEvaluationOut: TypeAlias = NumbersEvaluationOut | ClassesEvaluationOut
EvaluationOut: TypeAlias = Annotated[AnyEvaluationOut, Field(discriminator="task")]


def evaluation_out(job: Job, *, pictures: bool = True) -> AnyEvaluationOut:
    """An evaluation as it goes out; raises TypeError for a job of another kind."""
    _, plan = scoring_of(job)
    if not isinstance(plan, EvaluationPlan):
        raise TypeError(f"expected an evaluation, got {plan}")
    found = job.result if isinstance(job.result, Evaluation) else None
    own = {"task": plan.task, "target": plan.target, "result": found and evaluation_result(found, pictures=pictures)}
    shown = NumbersEvaluationOut if plan.task == "regression" else ClassesEvaluationOut
    return shown.model_validate(shared_by_jobs(job) | own)
