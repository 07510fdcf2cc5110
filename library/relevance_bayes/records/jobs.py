"""Kinds of jobs, their states and transitions, and their progress.

Independent of the jobs' tasks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from relevance_bayes.records.annotations import Id, wire
from relevance_bayes.records.errors import Fault, ProblemDetails, listed
from relevance_bayes.records.html import facts_html

JobKind = Literal["training", "evaluation", "prediction", "promotion"]

NOUNS: Mapping[JobKind, str] = {
    "training": "training job",
    "evaluation": "evaluation",
    "prediction": "batch prediction",
    "promotion": "promotion",
}
"""Names of jobs in messages."""

JOB_PATHS: Mapping[JobKind, str] = {
    "training": "/v1/training-jobs",
    "evaluation": "/v1/evaluations",
    "prediction": "/v1/batch-predictions",
    "promotion": "/v1/promotions",
}
"""The paths of jobs, by kind."""

JobState = Literal["queued", "running", "succeeded", "failed", "cancelled"]

MOVES: Mapping[JobState, Mapping[JobState, str]] = {
    "queued": {
        "running": "a worker starts it",
        "failed": "its queue entry is lost before a worker starts it",
        "cancelled": "its owner cancels it",
    },
    "running": {
        "running": "the next attempt continues it",
        "succeeded": "its result is recorded",
        "failed": "training fails, its run time is exceeded, or its attempts crash",
        "cancelled": "its owner cancels it",
    },
    "succeeded": {},
    "failed": {},
    "cancelled": {},
}
"""The states that may follow each state, and when. `running` follows itself when a new attempt takes over."""

FINISHED: frozenset[JobState] = frozenset(state for state, following in MOVES.items() if not following)
UNFINISHED: frozenset[JobState] = frozenset(MOVES) - FINISHED


@dataclass(frozen=True)
class ExpectedCost:
    """The cost of a training as it was planned before the start, mostly within a factor of 1.5."""

    __pydantic_config__ = wire()

    work_units: int
    """The planned work, the same on every machine: a unit is a millisecond of the reference core of this release."""
    cpu_seconds: float
    """The CPU time of the work by the speed of the workers."""
    memory_bytes: int
    """The peak of the memory of the fit, without the program and the dataset."""
    speed: float
    """The speed of the workers' cores, as a multiple of the reference core's."""
    speed_of: Literal["workers", "reference"]
    """`workers`: measured by the workers at their starts. `reference`: no worker was running."""


@dataclass(frozen=True)
class Progress:
    """The progress of a job: `completed` of `total` (null: unknown) `unit`s of `phase`, in the user's units."""

    __pydantic_config__ = wire()

    phase: str
    completed: int
    total: int | None
    unit: str
    log_marginal_likelihood: float | None = None
    """In nats."""
    functions: int | None = None
    """The number of functions in the model so far."""
    noise_sd: float | None = None
    """As of a version; null where there is none, or not yet."""
    share: float | None = None
    """The completed share of the planned work of the whole job, from 0 to 1, which never falls; null without a plan of
    the work.
    """
    seconds_left: float | None = None
    """The estimated seconds from this report to the end of the whole job; null without a plan of the work."""


@dataclass(frozen=True)
class Resumption:
    """The checkpoint from which an attempt resumed: its attempt, and its time."""

    __pydantic_config__ = wire()

    attempt: int
    at: datetime


@dataclass(frozen=True)
class Transition:
    """A transition between states."""

    __pydantic_config__ = wire()

    state: JobState
    at: datetime
    attempt: int
    """The number of the attempt; 0 before the first."""
    reason: str | None = None
    resumed_from: Resumption | None = None
    """The checkpoint of an earlier attempt from which this one resumed."""


@dataclass(frozen=True)
class Event:
    """An event of a job, numbered consecutively from 1."""

    __pydantic_config__ = wire()

    number: int
    at: datetime
    kind: Literal["transition", "progress"]
    transition: Transition | None = None
    progress: Progress | None = None

    @property
    def is_last(self) -> bool:
        """Return whether the job has ended with it."""
        return self.transition is not None and self.transition.state in FINISHED


@dataclass(frozen=True)
class VersionName:
    """A model's name and a version's number."""

    __pydantic_config__ = wire()

    model: str
    version: int


@dataclass(frozen=True, kw_only=True)
class JobProblem(ProblemDetails):
    """The reason why a job failed, and how to correct it."""

    __pydantic_config__ = wire()

    instance: str
    """The path of the job."""
    errors: tuple[Fault, ...]

    def __str__(self) -> str:
        return listed(self.detail, self.errors)


MIN_PRIORITY, MAX_PRIORITY = -100, 100

MAX_SEED = 2**53 - 1

MODEL_NAME_PATTERN = r"[a-z][a-z0-9._-]{0,62}"

ModelName: TypeAlias = Annotated[str, Field(pattern=f"^{MODEL_NAME_PATTERN}$")]

Priority: TypeAlias = Annotated[
    int,
    Field(
        ge=MIN_PRIORITY,
        le=MAX_PRIORITY,
        description="Your queued jobs with a greater priority start first; those of equal priority in their order of "
        "submission. It has no effect between owners, who take turns at random.",
    ),
]

Width: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """The members of all requests for jobs."""

    __pydantic_config__ = wire(extra="forbid")

    priority: Priority = 0


@dataclass(frozen=True, kw_only=True)
class JobBase:
    """The members of all jobs."""

    __pydantic_config__ = wire()

    id: Id
    state: JobState
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    cancel_requested_at: datetime | None
    attempt: int
    resumed_from: Resumption | None = None
    """The checkpoint from which the attempt resumed; null without one."""
    progress: Progress | None
    version: VersionName | None
    """The trained version, after a successful training; for other jobs the version that they use."""
    error: JobProblem | None
    """The reason why it failed, and how to correct it."""
    transitions: tuple[Transition, ...]
    dataset_id: Id
    model: str
    """The name of the version's model."""
    priority: int = 0
    """Queued jobs of an owner start in order of priority, highest first."""
    retry_of: Id | None = None
    """The job whose request this one repeats."""
    expected_cost: ExpectedCost | None = None
    """The cost of a training of numbers or classes as it was planned; null for other jobs."""

    @property
    def has_ended(self) -> bool:
        """Return whether the job has ended."""
        return self.state in FINISHED

    def _repr_html_(self) -> str:
        progress, version = self.progress, self.version
        facts = {
            "state": self.state,
            "progress": None if progress is None else f"{progress.phase}, {progress.completed} {progress.unit}",
            "version": None if version is None else f"{version.model}, version {version.version}",
            "error": None if self.error is None else str(self.error),
            "submitted": self.created_at,
            "ended": self.finished_at,
        }
        return facts_html(f"{self.model}: job {self.id}", facts)


@dataclass(frozen=True, kw_only=True)
class JobSummary(JobBase):
    """A job of any kind, without its request and its result."""

    kind: JobKind
    path: str
    """The path of the job itself."""


@dataclass(frozen=True)
class JobCounts:
    """The number of jobs in each state."""

    __pydantic_config__ = wire()

    queued: int
    running: int
    succeeded: int
    failed: int
    cancelled: int


@dataclass(frozen=True)
class JobPage:
    """A page of jobs of all kinds."""

    __pydantic_config__ = wire()

    items: tuple[JobSummary, ...]
    has_more: bool
    """True if there is a next page."""
    after: str | None
    """The `after` of the next page; null at the end."""
    counts: JobCounts | None
    """The number of jobs that match all filters but `state`; null without `counts=true`."""
    last_change: str
    """The position in the stream of changes: the page shows each change up to it, and a stream after it continues the
    page.
    """
