"""Jobs, their state transitions and attempts, and the protocols of the queue outside a transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol
from uuid import NAMESPACE_URL, UUID, uuid5

from app.database.keyset import KeysetPage
from app.errors import ConflictError
from relevance_bayes.core.models.fitting import LogEntry
from relevance_bayes.records.errors import Fault, NotFoundError
from relevance_bayes.records.jobs import (
    JOB_PATHS,
    NOUNS,
    ExpectedCost,
    JobCounts,
    JobKind,
    JobState,
    Progress,
    Resumption,
    Transition,
)


@dataclass(frozen=True)
class JobFailure:
    """The reason why a job failed: a stable slug, a title, a sentence with a remedy, and faults."""

    kind: str
    title: str
    detail: str
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class JobEnded:
    """An event: a job has ended; `started_at` is its first start, None where there was none.

    `traceparent` and `tracestate` are the trace context of its submission.
    """

    job_id: UUID
    owner: str
    kind: JobKind
    state: JobState
    at: datetime
    started_at: datetime | None = None
    traceparent: str | None = None
    tracestate: str | None = None


@dataclass(frozen=True)
class JobActivity:
    """The activity of all owners: whether a job is queued, and whether one has not ended."""

    is_waiting: bool
    is_unfinished: bool


@dataclass(frozen=True)
class Job:
    """A job as its owner sees it.

    `request`, `plan` and `result` are JSON of the feature that the job belongs to; `result` is None for a training and
    until the job has succeeded. In a summary, `request` and `plan` are empty, and `result` is None. The job reads the
    dataset `dataset_id`. It either trains a version of the model `for_model` or uses the versions with the numbers
    `scored`, the first of which is its subject. `model` and `version` identify the version that a training has made.
    `attempt` counts attempts from 1; 0: none yet. `last_words` is the end of the output of an attempt that died. Queued
    jobs of one owner with a greater `priority` start first. `retry_of` is the job whose request this one repeats.
    `submitted_by` is the owner of the key, token or session that submitted it, such as a member of the project; None
    where no request did. `submitted_with` is the id of that key, or the owner of that token. `change` is the number of
    its last change among those of its owner's jobs. `traceparent` and `tracestate` are the trace context of the request
    that submits it; of a job that was read, they are None. `expected_cost` is that of a training, as it was planned.
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
    error: JobFailure | None = None
    transitions: tuple[Transition, ...] = ()
    last_words: str | None = None
    priority: int = 0
    retry_of: UUID | None = None
    submitted_by: str | None = None
    submitted_with: str | None = None
    result: str | None = None
    traceparent: str | None = None
    tracestate: str | None = None
    expected_cost: ExpectedCost | None = None
    change: int = field(default=0, compare=False)

    @property
    def path(self) -> str:
        """The path of its resource."""
        return f"{JOB_PATHS[self.kind]}/{self.id}"

    @property
    def number(self) -> int | None:
        """The number of its version: the one that it uses, or the one that it has trained."""
        return self.scored[0] if self.scored else self.version

    @property
    def resumed_from(self) -> Resumption | None:
        """Return the attempt that its newest attempt resumed from."""
        starts = [move for move in self.transitions if move.state == "running"]
        return starts[-1].resumed_from if starts else None


def wrong_kind(job: Job, expected: str) -> TypeError:
    """Return the error for a job of another kind than expected."""
    return TypeError(f"expected {expected}, got the {NOUNS[job.kind]} {job.id}")


def too_late_to_cancel(job: Job) -> ConflictError:
    """Return the error for the cancellation of a job that has ended."""
    when = "" if job.finished_at is None else f" at {job.finished_at:%Y-%m-%dT%H:%M:%SZ}"
    return ConflictError(f"The job can't be cancelled: it {job.state}{when}.")


def no_such_job(job_id: UUID, kind: JobKind | None) -> NotFoundError:
    """Return the error for a job that does not exist, is of another kind, or belongs to another owner."""
    return NotFoundError(f"There is no {'job' if kind is None else NOUNS[kind]} {job_id}.")


@dataclass(frozen=True)
class JobFilter:
    """A filter of an owner's jobs; None: no restriction. `version` is the number of a version of `model` they use."""

    kind: JobKind | None = None
    state: JobState | None = None
    model: str | None = None
    version: int | None = None
    dataset_id: UUID | None = None


ALL = JobFilter()


def changes_id(owner: str) -> UUID:
    """Return the id under which listeners are notified of changes of an owner's jobs."""
    return uuid5(NAMESPACE_URL, f"relevance:jobs:{owner}")


@dataclass(frozen=True)
class Position:
    """The position of a reader: the number of the last event of a job, or of the last change of an owner's jobs.

    Changes have an `epoch`, which is random and another one after a restore: numbers are compared within one. Position
    0 precedes the first event or change.
    """

    number: int = 0
    epoch: str = ""

    def __str__(self) -> str:
        return f"{self.epoch}-{self.number}" if self.epoch else str(self.number)

    @classmethod
    def parse(cls, text: str) -> "Position":
        """Return the position with this text."""
        epoch, _, number = text.rpartition("-")
        return cls(int(number), epoch)


@dataclass(frozen=True)
class JobChanges:
    """Summaries of jobs that changed, in the order of their last changes, up to the change `last`."""

    jobs: tuple[Job, ...]
    last: Position


@dataclass(frozen=True)
class JobList:
    """A page of summaries of jobs of all kinds, and the number of jobs in each state where it was requested.

    The page shows each change up to `last_change`.
    """

    page: KeysetPage[Job]
    counts: JobCounts | None
    last_change: Position


MAX_STARTS = 3
"""The number of attempts of a job that makes no progress, when its worker or its child process dies each time.

An interrupted attempt does not count. A new checkpoint resets the count, and so does the progress of an attempt whose
worker died.
"""

MIN_PROGRESS = 0.02
"""The share of a job's work that is progress between two starts. It is counted from the greatest share of all attempts,
so that a job that kills its worker each time ends too."""


@dataclass(frozen=True)
class Claim:
    """The claim of an attempt: its number, from 1; `spent` is true where no attempt is left."""

    attempt: int
    spent: bool = False


@dataclass(frozen=True)
class JobTraces:
    """The trace contexts of a job's submission, with its `tracestate`, of its newest attempt, and of the newest attempt
    of the job that it repeats, or of that job's submission; None where it was not traced.
    """

    submission: str | None = None
    state: str | None = None
    attempt: str | None = None
    retried: str | None = None


@dataclass(frozen=True)
class EarlierAttempts:
    """The recorded attempts of a job so far, without its transitions.

    `seconds` is the running time of all of them. `has_died` is true where the newest one died with its worker, without
    a record.
    """

    job: Job
    seconds: float
    has_died: bool
    traces: JobTraces = JobTraces()


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A checkpoint of a fit.

    `by` identifies the program that made it: another program may take other steps, so it does not resume from it.
    """

    by: str
    fit_log: tuple[LogEntry, ...]


@dataclass(frozen=True, eq=False)
class StoredCheckpoint:
    """A stored checkpoint; `resumption` identifies the attempt that wrote it."""

    checkpoint: Checkpoint
    resumption: Resumption


@dataclass(frozen=True)
class LastHeartbeat:
    """The time of a worker's last heartbeat, by the database's clock, and whether the worker has left."""

    at: datetime
    left: bool


@dataclass(frozen=True)
class WorkerUse:
    """The use of a worker: `running` of its `slots` run a fit, and its fits took `busy_seconds` since its start."""

    slots: int
    running: int
    busy_seconds: float


@dataclass(frozen=True)
class SeenWorker:
    """A worker that has not left; it `is_alive` where its last heartbeat is recent. Its `use` is None until a heartbeat
    has it."""

    executor: str
    is_alive: bool
    use: WorkerUse | None

    @property
    def state(self) -> Literal["busy", "idle", "silent"]:
        """Return whether fits run, none runs, or no heartbeats come."""
        if not self.is_alive:
            return "silent"
        return "idle" if self.use is None or self.use.running == 0 else "busy"


QueueState = Literal["waiting", "running", "ended", "unknown"]


class QueueControl(Protocol):
    """Operations on the queue outside a transaction."""

    def cancel(self, job_id: UUID) -> None: ...

    def state(self, job_id: UUID) -> QueueState: ...


QueueOutcome = Literal["succeeded", "failed", "cancelled", "lost", "unknown"]
"""The end of a job's queue entry: success, an error, cancelled, timed out, started too often, or unknown."""


class Recovery(Protocol):
    """Operations of workers on the queue for the recovery of each other's jobs."""

    def holders(self) -> frozenset[str]:
        """Return the executors that have running entries in the queue."""

    def recover(self, executors: Sequence[str]) -> None:
        """Return the jobs of these executors to the queue; each recovery counts as a start."""

    def endings(self, job_ids: Sequence[UUID]) -> Mapping[UUID, QueueOutcome]:
        """Return how the entries of jobs ended; jobs that are queued or running are left out."""
