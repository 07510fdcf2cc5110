"""The kinds of jobs, the states that they are in, the only moves between these, and how far a job is.

Knows nothing of what jobs do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from relevance_bayes.types.errors import Fault, listed
from relevance_bayes.types.json_schema import Id, wire

JobKind = Literal["training", "evaluation", "prediction", "promotion"]

NOUNS: Mapping[JobKind, str] = {
    "training": "training job",
    "evaluation": "evaluation",
    "prediction": "batch prediction",
    "promotion": "promotion",
}
"""The names of jobs in messages."""

JOB_PATHS: Mapping[JobKind, str] = {
    "training": "/v1/training-jobs",
    "evaluation": "/v1/evaluations",
    "prediction": "/v1/batch-predictions",
    "promotion": "/v1/promotions",
}
"""Under which path jobs of a kind are found."""

JobState = Literal["queued", "running", "succeeded", "failed", "cancelled"]

MOVES: Mapping[JobState, Mapping[JobState, str]] = {
    "queued": {
        "running": "a worker starts it",
        "failed": "its entry in the queue is lost before a worker could begin",
        "cancelled": "its owner asks for it",
    },
    "running": {
        "running": "the next start goes on with it",
        "succeeded": "what came of it is recorded",
        "failed": "the rows can't be learned from, its time is over, or its starts died",
        "cancelled": "its owner asks for it",
    },
    "succeeded": {},
    "failed": {},
    "cancelled": {},
}
"""From each state, the states that may follow, and when. `running` follows itself when a new attempt takes over."""

FINISHED: frozenset[JobState] = frozenset(state for state, following in MOVES.items() if not following)
UNFINISHED: frozenset[JobState] = frozenset(MOVES) - FINISHED


def may_move(now: JobState, following: JobState) -> bool:
    """Return whether a job in state `now` may go to `following`."""
    return following in MOVES[now]


@dataclass(frozen=True)
class Progress:
    """The progress of a job: `completed` of `total` (null: not known) `unit`s of `phase`, in the user's units."""

    __pydantic_config__ = wire()

    phase: str
    completed: int
    total: int | None
    unit: str
    log_marginal_likelihood: float | None = None
    """In nats."""
    functions: int | None = None
    """Functions in the model so far."""
    noise_sd: float | None = None
    """As a version has it; null where there is none, or not known yet."""


@dataclass(frozen=True)
class Resumption:
    """The checkpoint from which an attempt resumed: that of the attempt `attempt`, and when it was made."""

    __pydantic_config__ = wire()

    attempt: int
    at: datetime


@dataclass(frozen=True)
class Transition:
    """A move that was made."""

    __pydantic_config__ = wire()

    state: JobState
    at: datetime
    attempt: int
    """Which start of the job; 0 before the first."""
    reason: str | None = None
    resumed_from: Resumption | None = None
    """Where a start went on from what one before it had kept."""


@dataclass(frozen=True)
class Event:
    """One thing that happened to a job, numbered from 1 within it without gaps."""

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
    """Which version of which model."""

    __pydantic_config__ = wire()

    model: str
    version: int


@dataclass(frozen=True)
class JobProblem:
    """Why a job failed, and what to do."""

    __pydantic_config__ = wire()

    type: str
    title: str
    detail: str
    instance: str
    """The job."""
    errors: tuple[Fault, ...]

    def __str__(self) -> str:
        return listed(self.detail, self.errors)


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
    """The checkpoint from which the attempt resumed; null where it began anew."""
    progress: Progress | None
    version: VersionName | None
    """The trained version, once a training succeeded; of other jobs the version that they use."""
    error: JobProblem | None
    """Why it failed, and what to do."""
    transitions: tuple[Transition, ...]
    dataset_id: Id
    model: str
    """The name under which the version is, or will be."""
    priority: int = 0
    """Of an owner's queued jobs, those of greater priority begin sooner."""
    retry_of: Id | None = None
    """The job whose request this one does again."""

    @property
    def has_ended(self) -> bool:
        """Return whether nothing more will happen to it."""
        return self.state in FINISHED
