"""What jobs of all kinds have, as their owner sees them."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.api.errors import ProblemKind
from app.domain.jobs import Job, Problem
from app.domain.requests import ScoringPlan
from relevance_bayes.plans.requests import TrainingPlan
from relevance_bayes.types.jobs import JobProblem, JobState, Progress, Resumption, Transition, VersionName


class FromDomain(BaseModel):
    """Read off a domain value's attributes."""

    model_config = ConfigDict(from_attributes=True)


class JobOut(BaseModel):
    """What every job begins with: how far it is. The columns that a training reads stand where they belong in each."""

    id: UUID
    state: JobState
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    cancel_requested_at: datetime | None
    attempt: int
    resumed_from: Resumption | None = Field(description="What this start went on from; null where it began anew.")
    progress: Progress | None
    version: VersionName | None = Field(
        description="What was learned, once a training succeeded; of other jobs the version that they are about."
    )
    error: JobProblem | None = Field(description="Why it failed, and what to do.")
    transitions: Sequence[Transition]
    dataset_id: UUID
    model: str = Field(description="The name under which the version is, or will be.")
    priority: int = Field(description="Of an owner's queued jobs, those of greater priority begin sooner.")
    retry_of: UUID | None = Field(description="The job whose request this one does again.")


def shared_by_jobs(job: Job) -> dict[str, object]:
    """The members of `JobOut`, and the columns that a training reads."""
    plan = job.plan
    return {
        "id": str(job.id),
        "state": job.state,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "cancel_requested_at": job.cancel_requested_at,
        "attempt": job.attempt,
        "resumed_from": job.resumed_from,
        "progress": job.progress,
        "version": None if job.number is None else VersionName(model=job.model or plan.model, version=job.number),
        "error": None if job.error is None else _job_problem(job, job.error),
        "transitions": job.transitions,
        "dataset_id": str(job.request.dataset_id),
        "model": plan.model,
        "priority": job.priority,
        "retry_of": None if job.retry_of is None else str(job.retry_of),
    } | ({} if isinstance(plan, ScoringPlan) else _columns(plan))


def _columns(plan: TrainingPlan) -> dict[str, object]:
    return {"inputs": plan.inputs, "ignored": plan.ignored}


def _job_problem(job: Job, problem: Problem) -> JobProblem:
    return JobProblem(
        type=ProblemKind(422, problem.kind, problem.title).type,
        title=problem.title,
        detail=problem.detail,
        instance=job.path,
        errors=tuple(problem.faults),
    )
