"""Jobs and the only moves they can make."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.errors import ConflictError
from app.identity import uuid7
from relevance_bayes.types.errors import Fault, NotFoundError
from relevance_bayes.types.jobs import JOB_PATHS, NOUNS, JobKind, JobState, Progress, Resumption, Transition

MIN_PRIORITY, MAX_PRIORITY = -100, 100


@dataclass(frozen=True)
class Problem:
    """Why a job failed: a stable slug, a sentence that says what to do, and where."""

    kind: str
    title: str
    detail: str
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class JobEnded:
    """An event: a job has reached its last state."""

    job_id: UUID
    owner: str
    kind: JobKind
    state: JobState
    at: datetime


@dataclass(frozen=True)
class JobActivity:
    """The newest job of all owners, whether a job waits in a queue, and whether one has not ended."""

    newest: UUID | None
    is_waiting: bool
    is_unfinished: bool


@dataclass(frozen=True)
class Job:
    """A job as its owner sees it.

    `request`, `plan` and `result` are JSON, which the feature that the job belongs to reads: `result` is that of a job
    that trains no version, once it succeeded. The job reads the dataset `dataset_id` and is about the model
    `for_model`: it trains a version of it, or scores those with the numbers `scored`, the first of which it is about.
    `model` and `version` are those of what was learned, set once a training succeeded. `attempt` counts starts from 1,
    0 is none yet. `last_words` are the last output of a start that died. Among an owner's queued jobs those of greater
    `priority` begin sooner. `retry_of` is the job whose request this one repeats.
    """

    id: UUID
    owner: str
    kind: JobKind
    state: JobState
    created_at: datetime
    dataset_id: UUID
    for_model: str
    request: str
    plan: str
    scored: tuple[int, ...] = ()
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
    result: str | None = None

    @property
    def path(self) -> str:
        """Where it is found."""
        return f"{JOB_PATHS[self.kind]}/{self.id}"

    @property
    def number(self) -> int | None:
        """The number of the version that it is about: the one it scores, or the one it has trained."""
        return self.scored[0] if self.scored else self.version

    @property
    def resumed_from(self) -> Resumption | None:
        """Return what its newest start went on from."""
        starts = [move for move in self.transitions if move.state == "running"]
        return starts[-1].resumed_from if starts else None


def queued(
    owner: str,
    kind: JobKind,
    *,
    dataset_id: UUID,
    for_model: str,
    request: str,
    plan: str,
    at: datetime,
    scored: tuple[int, ...] = (),
    priority: int = 0,
    retry_of: UUID | None = None,
) -> Job:
    """A new job with its first transition."""
    return Job(
        id=uuid7(),
        owner=owner,
        kind=kind,
        state="queued",
        created_at=at,
        dataset_id=dataset_id,
        for_model=for_model,
        request=request,
        plan=plan,
        scored=scored,
        transitions=(Transition("queued", at, 0),),
        priority=priority,
        retry_of=retry_of,
    )


def wrong_kind(job: Job, expected: str) -> TypeError:
    """The error of code that was handed a job of another kind."""
    return TypeError(f"expected {expected}, got the {NOUNS[job.kind]} {job.id}")


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
