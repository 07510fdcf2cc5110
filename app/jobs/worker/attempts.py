"""One attempt of a job of any kind and its transactions: begin, check, report progress, record the end."""

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import TypeAlias, TypeVar
from uuid import UUID

from app.database.transaction import OpenTransaction, Transaction
from app.datasets.repository import DatasetRepository
from app.errors import ConflictError, TrainingFailedError, UnavailableError
from app.jobs.checkpoint_repository import CheckpointRepository
from app.jobs.child import MEBIBYTE, Failure
from app.jobs.records import MAX_STARTS, Claim, EarlierAttempts, Job, JobFailure, QueueOutcome, StoredCheckpoint
from app.jobs.repository import JobRepository
from app.jobs.worker.job_log import JobEvent
from app.tracing.spans import CURRENT, NO_SPAN, NO_TRACER, Span, Tracer
from relevance_bayes.records.jobs import FINISHED, Progress, Resumption
from relevance_bayes.tables.columns import Block, block_rows

RETRY_SECONDS = 1.0

T = TypeVar("T")


class Interrupted(Exception):
    """The worker stops: the current operation is left unfinished for another worker."""


def retry(transaction: OpenTransaction, action: Callable[[Transaction], T], *, stopping: Event) -> T:
    """Run an action in a transaction, retried during an outage; raises Interrupted once `stopping` is set."""
    while True:
        try:
            with transaction() as tx:
                return action(tx)
        except UnavailableError:
            if stopping.wait(RETRY_SECONDS):
                raise Interrupted from None


RECORD_SECONDS = 5.0
"""Seconds between two records of a job's running time; what an attempt runs after its last record is not counted."""


class RunningTime:
    """The running time of earlier attempts (`earlier`) and of this one, from now on, in seconds.

    Time in the queue and between attempts does not count, and changes of the wall clock have no effect.
    """

    def __init__(
        self, earlier: float = 0.0, *, limit: float = math.inf, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._earlier = earlier
        self._limit = limit
        self._now = now
        self._began = self._recorded = now()

    @property
    def seconds(self) -> float:
        """Return the running time of the job in seconds."""
        return self._earlier + self._now() - self._began

    def is_over(self) -> bool:
        """Return whether the running time exceeds the limit."""
        return self.seconds > self._limit

    def is_record_due(self) -> bool:
        """Return whether the running time should be recorded again."""
        return self._now() - self._recorded >= RECORD_SECONDS

    def recorded(self) -> None:
        """Note that the running time was recorded now."""
        self._recorded = self._now()


UNEXPECTED = JobFailure(
    "internal-error",
    "Something unexpected happened",
    "This is a fault of the service, not of the data: its log has the details under this job's id."
    " Retrying the job is safe, and may help.",
)


def _died(how_often: str, seen: str) -> JobFailure:
    return JobFailure("worker-died", "The job died each time", f"The job was started {how_often}, and each time {seen}")


TOO_LONG = JobFailure(
    "timed-out",
    "The job took longer than a job may",
    "Use fewer rows or inputs, or validate on fewer folds; the service's operator sets the limit"
    " (RELEVANCE_JOB_TIMEOUT_SECONDS).",
)

KILLED = "signal 9"

BY_ENDING: Mapping[QueueOutcome, JobFailure] = {
    "lost": _died("repeatedly", "its worker died. The logs of the workers and of their supervisor have why."),
    "cancelled": TOO_LONG,
    "failed": UNEXPECTED,
    "succeeded": UNEXPECTED,
    "unknown": UNEXPECTED,
}
"""The problem of a job that its worker left unfinished, by the end of its queue entry."""

_ADVICE: Mapping[str, tuple[str, str, str]] = {
    "ConstantTargetError": (
        "constant-target",
        "All targets are the same",
        "choose a target that varies, or add rows in which it does",
    ),
    "UnfitWidthError": (
        "unfit-width",
        "The width does not separate the rows",
        "send a greater width where all rows are dissimilar, a lesser one where all are alike, or add rows",
    ),
    "OneClassError": ("one-class", "Only one class is left", "add rows of the other classes, or hold out fewer"),
    "DataError": (
        "unusable-data",
        "The rows can't be learned from",
        "correct them, or leave out the columns that have them",
    ),
    "IllegalCombinationError": ("illegal-combination", "These choices don't go together", "change one of them"),
    "TooManyCandidatesError": (
        "too-large",
        "The fit has more candidates than it may have",
        "train on fewer rows, or under a process (the service's operator sets RELEVANCE_MAX_CANDIDATE_CELLS)",
    ),
    "NotPositiveDefiniteError": (
        "not-computable",
        "The fit left the range of floating point",
        "more jitter and more noise were tried; leave out inputs that nearly repeat others, or choose another kernel",
    ),
}


def _of_death(job: Job, *, with_worker: bool) -> JobFailure:
    """Return the problem of a job whose attempts all died, the last one by itself or with its worker, from what was
    seen of it."""
    seen = "its worker stopped without a word" if with_worker else "its process died"
    if not with_worker and job.last_words:
        seen += f", which {job.last_words}"
    if job.progress is not None:
        of = "" if job.progress.total is None else f" of {job.progress.total:,}"
        seen += (
            f", the last time in phase {job.progress.phase!r} after {job.progress.completed:,}{of} {job.progress.unit}"
        )
    if with_worker:
        advice = (
            "The logs of the workers and of their supervisor have why: a worker that was killed (OOMKilled, 137) needs"
            " more memory or fewer slots. One that could not reach the database is no fault of the job: retry it."
        )
    elif KILLED in (job.last_words or ""):
        advice = (
            "Nothing but the system or a person sends this signal; the system does so where memory is short: use fewer"
            " rows or inputs, or give the workers more memory."
        )
    else:
        advice = "This is a fault of the service, not of the data: its log has the details under this job's id."
    return _died(f"{MAX_STARTS} times", f"{seen}. {advice}")


def of_failure(failure: Failure, *, memory: int | None) -> JobFailure:
    """Return the problem for a child's exception; `memory` is the child's memory limit in bytes."""
    if failure.error == "MemoryError":
        had = "the worker has" if memory is None else f"the {memory / MEBIBYTE:,.0f} MiB that a fit may use here"
        return JobFailure(
            "too-large",
            "The fit needs more memory than it may use",
            f"It needs more memory than {had}: train on fewer rows or inputs, or give fits more"
            " (RELEVANCE_FIT_MEMORY_BYTES).",
        )
    if failure.error not in _ADVICE:
        return UNEXPECTED
    kind, title, advice = _ADVICE[failure.error]
    given = failure.detail.rstrip(".")
    return JobFailure(kind, title, f"{given}: {advice}." if given else f"{advice[0].upper()}{advice[1:]}.")


def of_error(error: TrainingFailedError) -> JobFailure:
    """Return the problem of a fit that could not begin."""
    return JobFailure(error.kind, "The rows can't be learned from", error.detail, error.faults)


def name_taken(error: ConflictError) -> JobFailure:
    """Return the problem of a training whose model's name was taken by another task, target or inputs meanwhile."""
    return JobFailure("model-conflict", "The model's name means something else by now", error.detail)


def _start_attempt(tracer: Tracer, job_id: UUID, earlier: EarlierAttempts) -> Span:
    """Start the span of a job's next attempt, with links to the attempt before it and to the job that it repeats."""
    links = (earlier.traces.attempt, earlier.traces.retried)
    return tracer.start(
        f"process {earlier.job.kind}",
        "consumer",
        {
            "messaging.system": "relevance",
            "messaging.operation.name": "process",
            "messaging.operation.type": "process",
            "messaging.destination.name": earlier.job.kind,
            "messaging.message.id": str(job_id),
            "relevance.job.attempt": earlier.job.attempt + 1,
        },
        parent=earlier.traces.submission,
        state=earlier.traces.state,
        links=[link for link in links if link is not None],
    )


LOOK_SECONDS = 0.25
"""Seconds between checks of whether a running job is cancelled."""


class Superseded(Exception):
    """The job was cancelled by its owner, it was ended by another process, or another attempt has taken over."""


class TimeLimitExceeded(Exception):
    """The job has exceeded the limit of its running time."""


FindResumption: TypeAlias = Callable[[Transaction, UUID, str | None], Resumption | None]
"""Returns the attempt that a job resumes from with the same program, from what its feature has stored."""


def _nothing_to_resume(tx: Transaction, job_id: UUID, by: str | None) -> Resumption | None:
    """Return None: the job stores nothing but checkpoints."""


@dataclass(frozen=True)
class Records:
    """The transactions of a worker's attempts, which are retried during an outage until the worker stops.

    A job may run for `limit` seconds in all its attempts together. The `tracer` traces each attempt.
    """

    transaction: OpenTransaction
    stopping: Event
    limit: float = math.inf
    tracer: Tracer = NO_TRACER

    def retry(self, action: Callable[[Transaction], T]) -> T:
        """Run an action in a transaction, retried during an outage; raises Interrupted."""
        return retry(self.transaction, action, stopping=self.stopping)

    def try_once(self, action: Callable[[Transaction], T], *, otherwise: T) -> T:
        """Run an action in a transaction, or return `otherwise` during an outage."""
        try:
            with self.transaction() as tx:
                return action(tx)
        except UnavailableError:
            return otherwise

    def begin(
        self, job_id: UUID, *, by: str | None = None, resumption: FindResumption = _nothing_to_resume
    ) -> "JobAttempt | None":
        """Begin an attempt, which resumes from what an earlier one with the same program, `by`, has stored.

        Return None where no attempt starts. `resumption` finds what is stored elsewhere than in checkpoints. A job
        whose attempts died too often fails here. Raises Interrupted.
        """
        if self.stopping.is_set():
            raise Interrupted
        found = self.retry(lambda tx: _claimed(tx, job_id, by, resumption, self.tracer))
        if found is None:
            return None
        earlier = found.earlier
        if earlier.has_died:
            JobEvent(job_id, earlier.job.kind, earlier.job.attempt, earlier.seconds).worker_died()
        if found.claim is None:
            return None
        if found.claim.spent:
            self._end_after_deaths(earlier)
            return None
        attempt = JobAttempt(
            self,
            earlier.job,
            found.claim.attempt,
            found.kept,
            running=RunningTime(earlier.seconds, limit=self.limit),
            span=found.span,
        )
        CURRENT.set(attempt.span)
        resumed_from = None if found.resumed_from is None else found.resumed_from.attempt
        attempt.event.started(resumed_from=resumed_from)
        return attempt

    def settle(self, job_id: UUID, attempt: "JobAttempt | None" = None) -> bool:
        """Return whether a job has ended, after cancelling it where its owner requested that; raises Interrupted.

        The outcome of `attempt`, the last attempt here, is logged.
        """
        job = self.retry(lambda tx: JobRepository(tx).find(job_id))
        if job is None:
            return True
        is_cancelled = job.state not in FINISHED and job.cancel_requested_at is not None
        if is_cancelled and self.retry(lambda tx: JobRepository(tx).cancelled(job_id, job.attempt)):
            event = JobEvent(job_id, job.kind, job.attempt) if attempt is None else attempt.event
            event.ended("cancelled")
        elif attempt is not None and attempt.number != job.attempt:
            attempt.event.superseded()
        elif attempt is not None and job.state in {"succeeded", "failed"}:
            attempt.event.ended(job.state, job.error)
        return is_cancelled or job.state in FINISHED

    def _end_after_deaths(self, starts: EarlierAttempts) -> None:
        job = starts.job
        problem = _of_death(job, with_worker=starts.has_died)
        if self.retry(lambda tx: JobRepository(tx).fail(job.id, job.attempt, problem)):
            JobEvent(job.id, job.kind, job.attempt, starts.seconds).ended("failed", problem)


@dataclass(frozen=True)
class JobAttempt:
    """An attempt of a job, as this was before it: its `number`, from 1, and the attempt that it resumes from."""

    records: Records
    job: Job
    number: int
    kept: StoredCheckpoint | None = None
    running: RunningTime = field(default_factory=RunningTime)
    span: Span = NO_SPAN

    @property
    def event(self) -> JobEvent:
        """The fields of log events about it, the last of which ends its span."""
        return JobEvent(self.job_id, self.job.kind, self.number, self.running.seconds, self.span)

    @property
    def job_id(self) -> UUID:
        """The id of the job."""
        return self.job.id

    def check_process(self) -> None:
        """Raise Interrupted where this worker stops, and TimeLimitExceeded."""
        if self.records.stopping.is_set():
            raise Interrupted
        if self.running.is_over():
            raise TimeLimitExceeded

    def look(self) -> None:
        """Check whether the attempt may continue; raises Superseded, Interrupted, TimeLimitExceeded."""
        self.check_process()
        if self.running.is_record_due() and self.records.try_once(self.record_running_time, otherwise=False):
            self.running.recorded()
        if not self.records.try_once(lambda tx: JobRepository(tx).is_needed(self.job_id, self.number), otherwise=True):
            raise Superseded

    def report(self, progress: Progress) -> bool:
        """Record progress; return False where the database is unreachable; raises Superseded."""
        recorded: bool | None = self.records.try_once(
            lambda tx: JobRepository(tx).progress(self.job_id, self.number, progress), otherwise=None
        )
        if recorded is False:
            raise Superseded
        return recorded is True

    def blocks(
        self,
        dataset_id: UUID,
        *,
        first: int = 0,
        rows: int | None = None,
        read: tuple[int, Block] | None = None,
    ) -> Iterator[tuple[int, Block]]:
        """Return the blocks of a dataset from number `first` on, each with its first row; checks before each one.

        The database is queried every LOOK_SECONDS, with the dataset's number of `rows` not for a block after the last
        one, and not for the first one where it was `read` before. Raises Superseded, Interrupted, TimeLimitExceeded.
        """
        looks, end = Pace(LOOK_SECONDS, is_first_due=False), 0
        for number in itertools.count(first):
            if rows is not None and end >= rows:
                return
            if looks.is_due():
                self.look()
            self.check_process()
            found = read or self.records.retry(partial(_block, dataset_id, number))
            read = None
            if found is None:
                return
            end = found[0] + block_rows(found[1])
            yield found

    def holding(self, dataset_id: UUID, row: int) -> tuple[int, Block]:
        """Return the block of a row, with its first row; raises Superseded, Interrupted."""

        def read(tx: Transaction) -> tuple[int, Block]:
            found = DatasetRepository(tx).block(dataset_id, DatasetRepository(tx).block_holding(dataset_id, row))
            if found is None:
                raise Superseded
            return found

        return self.records.retry(read)

    def fail(self, problem: JobFailure) -> None:
        """Record the failure, unless another attempt has taken over; raises Interrupted."""
        self.records.retry(lambda tx: JobRepository(tx).fail(self.job_id, self.number, problem))

    def hand_back(self) -> None:
        """Return the job to the queue at once, unless the database is unreachable."""
        self.records.try_once(self.write_hand_back, otherwise=None)

    def write_hand_back(self, tx: Transaction) -> None:
        """Record that the attempt was interrupted."""
        self.record_running_time(tx)
        JobRepository(tx).hand_back(self.job_id, self.number)

    def record_running_time(self, tx: Transaction) -> bool:
        """Record the running time of the job; return True."""
        JobRepository(tx).record_running_time(self.job_id, self.number, self.running.seconds)
        return True


class Pace:
    """The pace of progress reports and checks, each of which costs a transaction; `is_first_due`: the first at once."""

    def __init__(self, seconds: float, *, is_first_due: bool = True, now: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._now = now
        self._last = float("-inf") if is_first_due else now()

    def is_due(self) -> bool:
        """Return whether so many seconds have passed since the last report was due."""
        now = self._now()
        due = now - self._last >= self._seconds
        if due:
            self._last = now
        return due


@dataclass(frozen=True)
class _Claimed:
    """The result of a claim; `claim` is None where no attempt starts."""

    earlier: EarlierAttempts
    claim: Claim | None
    kept: StoredCheckpoint | None = None
    resumed_from: Resumption | None = None
    span: Span = NO_SPAN


def _claimed(
    tx: Transaction, job_id: UUID, by: str | None, resumption: FindResumption, tracer: Tracer
) -> _Claimed | None:
    earlier = JobRepository(tx).earlier_starts(job_id)
    if earlier is None:
        return None
    kept, resumed_from = None, None
    if earlier.job.attempt:
        kept = None if by is None else CheckpointRepository(tx).find(job_id, by=by)
        resumed_from = resumption(tx, job_id, by) if kept is None else kept.resumption
    span = _start_attempt(tracer, job_id, earlier)  # one that is not ended, here after a rollback, is not exported
    claim = JobRepository(tx).claim(job_id, resumed_from=resumed_from, traceparent=span.traceparent)
    return _Claimed(earlier, claim, kept, resumed_from, span)


def _block(dataset_id: UUID, number: int, tx: Transaction) -> tuple[int, Block] | None:
    return DatasetRepository(tx).block(dataset_id, number)
