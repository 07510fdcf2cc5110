"""What jobs of all kinds have, and their events, as their owner sees them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.api.errors import ProblemKind
from app.api.schemas.problems import ErrorOut, JobProblemOut
from app.domain.jobs import Event, Job, Problem
from app.domain.requests import ScoringPlan
from relevance_bayes.plans.requests import TrainingPlan
from relevance_bayes.types.jobs import JobState
from relevance_bayes.types.values import ColumnKind


class FromDomain(BaseModel):
    """Read off a domain value's attributes."""

    model_config = ConfigDict(from_attributes=True)


class ProgressOut(FromDomain):
    """How far a job is: `completed` of `total` (null: not known) `unit`s of `phase`, in the user's units."""

    phase: str
    completed: int
    total: int | None
    unit: str
    log_marginal_likelihood: float | None = Field(description="In nats.")
    functions: int | None = Field(description="Functions in the model so far.")
    noise_sd: float | None = Field(description="As a version has it; null where there is none, or not known yet.")


class ResumptionOut(FromDomain):
    """What a start of a job went on from: what the start `attempt` had kept of its fit, and when."""

    attempt: int
    at: datetime


class TransitionOut(FromDomain):
    """A move that was made."""

    state: JobState
    at: datetime
    attempt: int = Field(description="Which start of the job; 0 before the first.")
    reason: str | None
    resumed_from: ResumptionOut | None = Field(description="Where a start went on from what one before it had kept.")


class VersionNameOut(BaseModel):
    """Which version of which model."""

    model: str
    version: int


class InputOut(FromDomain):
    """A raw column that the model reads; `categories` in the order in which they are one-hot encoded."""

    name: str
    kind: ColumnKind
    categories: Sequence[str]


class IgnoredOut(FromDomain):
    """A column left out, and why."""

    name: str
    reason: str


class JobOut(BaseModel):
    """What every job begins with: how far it is. The columns that a training reads stand where they belong in each."""

    id: UUID
    state: JobState
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    cancel_requested_at: datetime | None
    attempt: int
    resumed_from: ResumptionOut | None = Field(description="What this start went on from; null where it began anew.")
    progress: ProgressOut | None
    version: VersionNameOut | None = Field(
        description="What was learned, once a training succeeded; of other jobs the version that they are about."
    )
    error: JobProblemOut | None = Field(description="Why it failed, and what to do.")
    transitions: Sequence[TransitionOut]
    dataset_id: UUID
    model: str = Field(description="The name under which the version is, or will be.")
    priority: int = Field(description="Of an owner's queued jobs, those of greater priority begin sooner.")
    retry_of: UUID | None = Field(description="The job whose request this one does again.")


def shared_by_jobs(job: Job) -> dict[str, object]:
    """The members of `JobOut`, and the columns that a training reads."""
    plan = job.plan
    return {
        "id": job.id,
        "state": job.state,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "cancel_requested_at": job.cancel_requested_at,
        "attempt": job.attempt,
        "resumed_from": None if job.resumed_from is None else ResumptionOut.model_validate(job.resumed_from),
        "progress": None if job.progress is None else ProgressOut.model_validate(job.progress),
        "version": None if job.number is None else VersionNameOut(model=job.model or plan.model, version=job.number),
        "error": None if job.error is None else _job_problem(job, job.error),
        "transitions": [TransitionOut.model_validate(transition) for transition in job.transitions],
        "dataset_id": job.request.dataset_id,
        "model": plan.model,
        "priority": job.priority,
        "retry_of": job.retry_of,
    } | ({} if isinstance(plan, ScoringPlan) else _columns(plan))


def _columns(plan: TrainingPlan) -> dict[str, object]:
    return {
        "inputs": [InputOut.model_validate(column) for column in plan.inputs],
        "ignored": [IgnoredOut.model_validate(column) for column in plan.ignored],
    }


def _job_problem(job: Job, problem: Problem) -> JobProblemOut:
    return JobProblemOut(
        type=ProblemKind(422, problem.kind, problem.title).type,
        title=problem.title,
        detail=problem.detail,
        instance=job.path,
        errors=[
            ErrorOut(detail=fault.detail, pointer=fault.pointer, row=fault.row, column=fault.column, line=fault.line)
            for fault in problem.faults
        ],
    )


class EventOut(FromDomain):
    """One thing that happened to a job, numbered from 1 within it without gaps."""

    number: int
    at: datetime
    kind: Literal["transition", "progress"]
    transition: TransitionOut | None
    progress: ProgressOut | None

    @classmethod
    def of(cls, event: Event) -> Self:
        """An event as it goes out."""
        return cls.model_validate(event)
