"""Jobs and the only moves they can make."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from app.domain.errors import ConflictError, Fault
from app.domain.requests import TrainingPlan, TrainingRequest
from app.domain.starts import Resumption

JobState = Literal["queued", "running", "succeeded", "failed", "cancelled"]

MOVES: Mapping[JobState, Mapping[JobState, str]] = {
    "queued": {
        "running": "a worker starts it",
        "failed": "its time is over before a worker could begin",
        "cancelled": "its owner asks for it",
    },
    "running": {
        "running": "the next start goes on with it",
        "succeeded": "its version is recorded",
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


LEAST_PRIORITY, MOST_PRIORITY = -100, 100


def may_move(now: JobState, following: JobState) -> bool:
    """Whether a job in state `now` may go to `following`."""
    return following in MOVES[now]


@dataclass(frozen=True)
class Progress:
    """How far a running job is, in the user's units: `completed` of `total` `unit`s of `phase`.

    `log_marginal_likelihood` is in nats; `noise_sd` is of the target's logarithm where that is learned.
    """

    phase: str
    completed: int
    total: int | None
    unit: str
    log_marginal_likelihood: float | None = None
    functions: int | None = None
    noise_sd: float | None = None


@dataclass(frozen=True)
class Problem:
    """Why a job failed: a stable slug, a sentence that says what to do, and where."""

    kind: str
    title: str
    detail: str
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class Transition:
    """A move that was made: to which state, when, by which attempt, and why where that is not plain.

    `resumed_from` is what a start went on from, where one before it had kept how far it was.
    """

    state: JobState
    at: datetime
    attempt: int
    reason: str | None = None
    resumed_from: Resumption | None = None


@dataclass(frozen=True)
class Event:
    """One thing that happened to a job, numbered from 1 within it without gaps: a transition or a progress."""

    number: int
    at: datetime
    kind: Literal["transition", "progress"]
    transition: Transition | None = None
    progress: Progress | None = None

    @property
    def is_last(self) -> bool:
        """Whether the job has ended with it."""
        return self.transition is not None and self.transition.state in FINISHED


@dataclass(frozen=True)
class Job:
    """A job as its owner sees it.

    `model` and `version` are set once it succeeded; `attempt` counts starts from 1, 0 is none yet. `last_words` are
    what a start that died was heard to say. Among an owner's queued jobs those of greater `priority` begin sooner.
    `retry_of` is the job whose request this one does again.
    """

    id: UUID
    owner: str
    state: JobState
    created_at: datetime
    request: TrainingRequest
    plan: TrainingPlan
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

    @property
    def resumed_from(self) -> Resumption | None:
        """What its newest start went on from."""
        starts = [move for move in self.transitions if move.state == "running"]
        return starts[-1].resumed_from if starts else None


def too_late_to_cancel(job: Job) -> ConflictError:
    """What a cancel is told that came after the job's end."""
    when = "" if job.finished_at is None else f" at {job.finished_at:%Y-%m-%dT%H:%M:%SZ}"
    return ConflictError(f"This comes too late: the job {job.state}{when}.")
