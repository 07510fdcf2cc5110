"""The ports of the services, as protocols; `wiring` joins them to storage and queue."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from app.domain.attempts import Checkpoint, Claim, EarlierAttempts, Kept
from app.domain.datasets import Dataset, Upload
from app.domain.idempotency import RequestKey, StoredResponse
from app.domain.jobs import ALL, Job, JobActivity, JobFilter, JobResult, Problem
from app.domain.model_ports import Aliases, Models
from app.domain.models import NewVersion, Version
from app.domain.pages import Page as Page
from app.domain.pages import PageRequest as PageRequest
from app.domain.results import Results
from app.domain.webhook_ports import Deliveries, Webhooks
from relevance_bayes.tables.columns import Block, ColumnSummary
from relevance_bayes.types.jobs import Event, JobKind, JobState, Progress, Resumption


class Datasets(Protocol):
    """Where datasets are kept. An upload is invisible until `finish`."""

    def begin(self, upload: Upload) -> None: ...

    def append(self, dataset_id: UUID, number: int, first_row: int, block: Block) -> None:
        """Store block `number` (from 0), whose first row is `first_row`, and mark the upload as alive."""

    def finish(self, dataset_id: UUID, *, rows: int, digest: str, columns: Sequence[ColumnSummary]) -> Dataset: ...

    def discard(self, dataset_id: UUID) -> bool:
        """Remove a piece of an upload that did not end well; whether to call again, in a new transaction."""

    def remove_expired(self, *, not_written_since: datetime) -> bool:
        """Remove a piece of an upload that nobody has written to since then, or of what was deleted; whether there was
        any: call again, in a new transaction.
        """

    def get(self, owner: str, dataset_id: UUID) -> Dataset:
        """Raises NotFoundError."""

    def page(self, owner: str, part: PageRequest, *, name: str | None = None) -> Page[Dataset]:
        """Those of this name."""

    def block(self, dataset_id: UUID, number: int) -> tuple[int, Block] | None:
        """Block `number` with the number of its first row, None past the last: one short read."""

    def block_holding(self, dataset_id: UUID, row: int) -> int:
        """The number of the block in which a row stands."""

    def delete(self, owner: str, dataset_id: UUID) -> None:
        """Raises NotFoundError, or InUseError while an unfinished job needs it."""


class Jobs(Protocol):
    """Where jobs are kept: the users' truth. Every end names the attempt that makes it."""

    def add(self, job: Job) -> None:
        """Record a queued job with its first transition.

        Raises NotFoundError when its dataset, or a version that it scores, is gone.
        """

    def get(self, owner: str, job_id: UUID, *, kind: JobKind | None = None) -> Job:
        """A job, of this kind where one is said; raises NotFoundError, as all do that take a kind."""

    def find(self, job_id: UUID) -> Job | None:
        """A job of any owner, for the worker."""

    def page(self, owner: str, part: PageRequest, *, which: JobFilter = ALL) -> Page[Job]: ...

    def events(
        self, owner: str, job_id: UUID, *, limit: int, after: int, kind: JobKind | None = None
    ) -> tuple[Event, ...]:
        """Events with numbers above `after`, in order; raises NotFoundError."""

    def has_ended(self, owner: str, job_id: UUID, *, kind: JobKind | None = None) -> bool:
        """Return whether the last of a job's events is written; raises NotFoundError."""

    def event_counts(self, job_ids: Sequence[UUID]) -> Mapping[UUID, int]:
        """Return how many events each of these jobs (of any owner) has, without those that are gone."""

    def claim(self, job_id: UUID, *, resumed_from: Resumption | None = None) -> Claim | None:
        """Move to `running` with the next attempt number; None when finished or to be cancelled.

        A start that follows on one that was not handed back has seen it die: after MAX_STARTS of these, with nothing
        kept in between, it is `spent`.
        """

    def hand_back(self, job_id: UUID, attempt: int) -> None:
        """Note that a running attempt was given up in good order, for others to go on with."""

    def died(self, job_id: UUID, attempt: int, words: str) -> None:
        """Count the death of a running attempt, and note what was last heard of it."""

    def earlier_starts(self, job_id: UUID) -> EarlierAttempts | None:
        """Return what is recorded of a job's starts so far; None where there is no such job."""

    def record_running_time(self, job_id: UUID, attempt: int, seconds: float) -> None:
        """Record for how many seconds a job has run in all its starts, unless the attempt is superseded or ended."""

    def progress(self, job_id: UUID, attempt: int, progress: Progress) -> bool:
        """Record progress of a running attempt; False when superseded or ended."""

    def cancel_requested(self, job_id: UUID) -> bool: ...

    def is_needed(self, job_id: UUID, attempt: int) -> bool:
        """Return whether this attempt is running, the job's newest, and nobody asked for its end."""

    def request_cancel(self, owner: str, job_id: UUID, *, kind: JobKind | None = None) -> Job:
        """Note the wish (once); a queued job is cancelled at once, a cancelled one stays as it is.

        Raises NotFoundError, ConflictError when the job has ended otherwise.
        """

    def succeed(self, job_id: UUID, attempt: int, version: NewVersion) -> Version | None:
        """Record the version and the end in this transaction; None, and nothing recorded, when superseded."""

    def conclude(self, job_id: UUID, attempt: int, result: JobResult) -> bool:
        """Record the end of a job that learns nothing, and what it found; False, and nothing recorded, when superseded.

        Whatever else the end means belongs in the same transaction.
        """

    def fail(self, job_id: UUID, attempt: int, problem: Problem) -> bool: ...

    def cancelled(self, job_id: UUID, attempt: int) -> bool: ...

    def remove(self, owner: str, job_id: UUID) -> None:
        """A job that has ended and learned nothing, with all that happened to it; raises NotFoundError for others."""

    def unfinished(self, *, after: UUID | None, limit: int) -> tuple[tuple[UUID, JobState, int], ...]:
        """Id, state and attempt of jobs that have not ended, past an id, oldest first, for the sweep."""

    def activity(self) -> JobActivity: ...

    def unfinished_of(self, job_ids: Sequence[UUID]) -> frozenset[UUID]:
        """Those of these jobs (of any owner) that have not ended."""

    def count_unfinished(self, owner: str) -> int:
        """Return how many jobs of this owner have not ended."""

    def forget_progress(self, *, ended_before: float) -> bool:
        """Remove a piece of the progress of jobs that ended so many seconds ago; transitions stay, and all numbers.

        Whether to call again, in a new transaction.
        """


class Checkpoints(Protocol):
    """Checkpoints of running fits; each job's newest, gone with its end."""

    def keep(self, job_id: UUID, attempt: int, checkpoint: Checkpoint) -> bool:
        """In the place of the one before; False, and nothing kept, where the attempt is superseded or has ended.

        The job has come further: starts that died before don't count any more.
        """

    def find(self, job_id: UUID, *, by: str) -> Kept | None:
        """The newest, where the same program made it."""


@dataclass(frozen=True)
class LastHeartbeat:
    """When a worker was last heard of, by the database's clock, and whether it has left."""

    at: datetime
    left: bool


class Workers(Protocol):
    """The heartbeats of worker processes, by the database's own clock."""

    def record_heartbeat(self, executor: str) -> None: ...

    def leave(self, executor: str) -> None:
        """Mark as handed back: others may take over at once."""

    def last_heartbeats(self) -> Mapping[str, LastHeartbeat]:
        """The last one of each executor that was not forgotten."""

    def forget(self, executor: str) -> None: ...

    def alive(self, *, within: float) -> tuple[str, ...]:
        """Executors that have beaten within that many seconds and did not leave."""


class Keys(Protocol):
    """Creating requests by the keys that came with them, for a time; every time is the database's own."""

    def find(self, key: RequestKey) -> StoredResponse | None:
        """Return the response to the first request with this key, None when there was none or its time is over.

        Raises KeyReusedError when that was another request, KeyInUseError when it is still being done.
        """

    def keep(self, key: RequestKey, response: StoredResponse) -> None:
        """Keep an answer with what it tells of, in one transaction; raises KeyInUseError when somebody was first."""

    def begin(self, key: RequestKey, holder: UUID) -> None:
        """Take a key for what takes several transactions; raises KeyInUseError when somebody was first."""

    def renew(self, key: RequestKey, holder: UUID) -> None:
        """Say that the holder is alive; raises KeyInUseError when the key was taken over."""

    def complete(self, key: RequestKey, holder: UUID, response: StoredResponse) -> None:
        """Keep the holder's answer; raises KeyInUseError when the key was taken over."""

    def release(self, key: RequestKey, holder: UUID) -> None:
        """Let go of a key whose holder made nothing."""

    def remove_expired(self) -> bool:
        """Forget some of those whose time is over; whether to call again, in a new transaction."""


QueueState = Literal["waiting", "running", "ended", "unknown"]


class Queue(Protocol):
    """The durable engine: who may run what, and when. Job ids are its workflow ids."""

    def submit(self, job_id: UUID, *, owner: str, kind: JobKind = "training", priority: int = 0) -> None:
        """Within the transaction of the unit of work that this queue belongs to."""

    def deliver(self, entry: UUID, *, webhook_id: UUID, delay: float) -> None:
        """Queue one attempt to tell a webhook, in so many seconds; within the transaction likewise."""


class QueueControl(Protocol):
    """Requests to the queue outside a transaction."""

    def cancel(self, job_id: UUID) -> None: ...

    def state(self, job_id: UUID) -> QueueState: ...


QueueEnding = Literal["succeeded", "failed", "cancelled", "lost", "unknown"]
"""The end of a job's entry in the queue: well, with an error, cancelled or late, started too often, or not known."""


class Recovery(Protocol):
    """Requests of workers to the queue about each other's jobs."""

    def holders(self) -> frozenset[str]:
        """Executors that the engine believes to be running something."""

    def recover(self, executors: Sequence[str]) -> None:
        """Let others take over what these executors were running; each time counts as a start."""

    def endings(self, job_ids: Sequence[UUID]) -> Mapping[UUID, QueueEnding]:
        """Those whose entry has ended, and how; who is missing here still waits or runs."""


class Entries(Protocol):
    """Ended entries that the queue still keeps."""

    def ended(self, *, before: datetime, skip: int, limit: int) -> Sequence[UUID]:
        """Entries that had ended by then, in a fixed order, but for the first so many."""

    def forget(self, entries: Sequence[UUID]) -> None:
        """Have the engine know nothing of these."""


class Listener(Protocol):
    """A connection over which one thread hears that something happened to jobs, or models, whoever wrote it."""

    def receive(self) -> frozenset[UUID] | None:
        """Which are concerned, none after a moment of silence; None: it may be any. Raises UnavailableError."""


class Notifier(Protocol):
    """Where to hear of what happens to jobs, or to models."""

    def open(self) -> AbstractContextManager[Listener]:
        """Hear of everything that is committed from now on, also between two calls. Raises UnavailableError."""


class UnitOfWork(Protocol):
    """One transaction: commits when its block ends well, else rolls back; short, and never waiting for a socket."""

    datasets: Datasets
    jobs: Jobs
    checkpoints: Checkpoints
    results: Results
    models: Models
    aliases: Aliases
    workers: Workers
    keys: Keys
    webhooks: Webhooks
    deliveries: Deliveries
    queue: Queue


OpenUnitOfWork = Callable[[], AbstractContextManager[UnitOfWork]]
Clock = Callable[[], datetime]
"""Now, in UTC, with its zone."""
