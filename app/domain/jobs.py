"""Jobs and the only moves they can make."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from app.domain.requests import JudgingRequest, PredictionPlan, PredictionRequest, ScoringPlan, ScoringRequest
from app.domain.results import BatchPredicted
from app.domain.scoring import Evaluation, Promotion
from app.errors import ConflictError
from app.identity import uuid7
from relevance_bayes.plans.requests import TrainingPlan, TrainingRequest
from relevance_bayes.types.errors import Fault, NotFoundError
from relevance_bayes.types.jobs import JOB_PATHS, NOUNS, JobKind, JobState, Progress, Resumption, Transition

JobRequest: TypeAlias = TrainingRequest | ScoringRequest
JobPlan: TypeAlias = TrainingPlan | ScoringPlan

JobResult: TypeAlias = Evaluation | Promotion | BatchPredicted
"""The results of jobs that train no version."""

MIN_PRIORITY, MAX_PRIORITY = -100, 100


@dataclass(frozen=True)
class Problem:
    """Why a job failed: a stable slug, a sentence that says what to do, and where."""

    kind: str
    title: str
    detail: str
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class JobActivity:
    """The newest job of all owners, whether a job waits in a queue, and whether one has not ended."""

    newest: UUID | None
    is_waiting: bool
    is_unfinished: bool


@dataclass(frozen=True)
class Job:
    """A job as its owner sees it.

    `model` and `version` are those of what was learned, set once a training succeeded; `attempt` counts starts from 1,
    0 is none yet. `last_words` are what a start that died was heard to say. Among an owner's queued jobs those of
    greater `priority` begin sooner. `retry_of` is the job whose request this one does again. `result` is what came of
    it, once a job that learns nothing succeeded.
    """

    id: UUID
    owner: str
    state: JobState
    created_at: datetime
    request: JobRequest
    plan: JobPlan
    attempt: int = 0
    started_at: datetime | None = None
    finished_at: datetime | None = None
    cancel_requested_at: datetime | None = None
    progress: Progress | None = None
    model: str | None = None
    version: int | None = None
    error: Problem | None = None
    transitions: tuple[Transition, ...] = ()
    last_words: str | None = None
    priority: int = 0
    retry_of: UUID | None = None
    result: JobResult | None = None

    @property
    def kind(self) -> JobKind:
        """Return what it does, as its plan says."""
        return self.plan.kind if isinstance(self.plan, ScoringPlan) else "training"

    @property
    def path(self) -> str:
        """Where it is found."""
        return f"{JOB_PATHS[self.kind]}/{self.id}"

    @property
    def number(self) -> int | None:
        """Of the version that it is about: the one that was learned, once it is there, or the one that it scores."""
        return self.plan.version if isinstance(self.plan, ScoringPlan) else self.version

    @property
    def resumed_from(self) -> Resumption | None:
        """Return what its newest start went on from."""
        starts = [move for move in self.transitions if move.state == "running"]
        return starts[-1].resumed_from if starts else None


def training_of(job: Job) -> tuple[TrainingRequest, TrainingPlan]:
    """Return the request and the plan of a training; raises TypeError for a job of another kind."""
    if isinstance(job.request, ScoringRequest) or isinstance(job.plan, ScoringPlan):
        raise TypeError(f"expected a training, got the {NOUNS[job.kind]} {job.id}")
    return job.request, job.plan


def scoring_of(job: Job) -> tuple[ScoringRequest, ScoringPlan]:
    """The same of what scores; raises TypeError for a training."""
    if not isinstance(job.request, ScoringRequest) or not isinstance(job.plan, ScoringPlan):
        raise TypeError(f"expected a job that scores, got the {NOUNS[job.kind]} {job.id}")
    return job.request, job.plan


def judging_of(job: Job) -> tuple[JudgingRequest, ScoringPlan]:
    """The same of what judges versions; raises TypeError for other jobs."""
    request, plan = scoring_of(job)
    if not isinstance(request, JudgingRequest):
        raise TypeError(f"expected a job that judges, got the {NOUNS[job.kind]} {job.id}")
    return request, plan


def prediction_of(job: Job) -> tuple[PredictionRequest, PredictionPlan]:
    """The same of what predicts; raises TypeError for other jobs."""
    if not isinstance(job.request, PredictionRequest) or not isinstance(job.plan, PredictionPlan):
        raise TypeError(f"expected a batch prediction, got the {NOUNS[job.kind]} {job.id}")
    return job.request, job.plan


def queued(
    owner: str, request: JobRequest, plan: JobPlan, *, at: datetime, priority: int = 0, retry_of: UUID | None = None
) -> Job:
    """A new job with its first transition."""
    return Job(
        id=uuid7(),
        owner=owner,
        state="queued",
        created_at=at,
        request=request,
        plan=plan,
        transitions=(Transition("queued", at, 0),),
        priority=priority,
        retry_of=retry_of,
    )


def too_late_to_cancel(job: Job) -> ConflictError:
    """Return what a cancel is told that came after the job's end."""
    when = "" if job.finished_at is None else f" at {job.finished_at:%Y-%m-%dT%H:%M:%SZ}"
    return ConflictError(f"This comes too late: the job {job.state}{when}.")


def no_such_job(job_id: UUID, kind: JobKind | None) -> NotFoundError:
    """Return what is said of a job that is not there, or not of that kind, or somebody else's."""
    return NotFoundError(f"There is no {'job' if kind is None else NOUNS[kind]} {job_id}.")


@dataclass(frozen=True)
class JobFilter:
    """Which jobs of an owner are meant; None: whichever. `version` is the number of one of `model` that they score."""

    kind: JobKind | None = None
    state: JobState | None = None
    model: str | None = None
    version: int | None = None
    dataset_id: UUID | None = None


ALL = JobFilter()
