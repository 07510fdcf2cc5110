"""Jobs of every kind as their owner sees them: read, followed, cancelled; and the time that they ran in a day."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import ceil
from uuid import UUID

from app.accounts.limit_repository import OwnerLimitsRepository
from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import OpenTransaction, Transaction
from app.errors import ConflictError, TrainingTimeError, UnavailableError
from app.jobs.records import ALL, Job, JobChanges, JobFilter, JobList, Position, QueueControl
from app.jobs.repository import JobChangeRepository, JobRepository
from app.jobs.statistics_repository import JobStatisticsRepository
from relevance_bayes.records.jobs import FINISHED, Event, JobKind

DAY = timedelta(days=1)


def seconds_of_today(tx: Transaction, owner: str) -> float:
    """Return the seconds for which an owner's training jobs have run since 00:00 UTC.

    A job runs from its first start to its end, those still running until now.
    """
    now = tx.clock()
    began = _midnight(now)
    return sum(
        max(0.0, ((ended_at or now) - max(started_at, began)).total_seconds())
        for started_at, ended_at in JobStatisticsRepository(tx).training_times(owner, ended_after=began)
    )


def check_training_time(tx: Transaction, owner: str) -> None:
    """Raise TrainingTimeError where an owner's training jobs have run for as long as its limit of a day permits."""
    limit = OwnerLimitsRepository(tx).of(owner).training_seconds_per_day
    if limit is None or seconds_of_today(tx, owner) < limit:
        return
    now = tx.clock()
    raise TrainingTimeError(
        f"Training jobs of this owner have run for {limit:,} seconds since 00:00 UTC, the maximum of a day: "
        "try again tomorrow.",
        retry_after=ceil((_midnight(now) + DAY - now).total_seconds()),
    )


def _midnight(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


@dataclass(frozen=True)
class History:
    """Some events of a job; `is_whole`: the job has ended, and these include its last event."""

    events: tuple[Event, ...]
    is_whole: bool


@dataclass(frozen=True)
class JobService:
    """The jobs of owners; where a `kind` is given, jobs of other kinds are not found."""

    transaction: OpenTransaction
    queue_control: QueueControl

    def get(self, owner: str, job_id: UUID, *, kind: JobKind | None = None) -> Job:
        """Return a job; raises NotFoundError."""
        with self.transaction() as tx:
            return JobRepository(tx).get(owner, job_id, kind=kind)

    def page(self, owner: str, part: PageRequest, *, which: JobFilter = ALL) -> KeysetPage[Job]:
        """Return a page of the jobs that the filter selects."""
        with self.transaction() as tx:
            return JobRepository(tx).page(owner, part, which=which)

    def summaries(self, owner: str, part: PageRequest, *, which: JobFilter = ALL, counts: bool = False) -> JobList:
        """Return a page of summaries of the jobs that the filter selects, where `counts` with the number by state."""
        with self.transaction() as tx:
            # First: what changes from here on has a greater number, whether the page shows it or not.
            last = JobChangeRepository(tx).last(owner)
            counted = JobStatisticsRepository(tx).counts(owner, which=replace(which, state=None)) if counts else None
            return JobList(JobRepository(tx).summaries(owner, part, which=which), counted, last)

    def last_change(self, owner: str) -> Position:
        """Return the position of the last change of an owner's jobs."""
        with self.transaction() as tx:
            return JobChangeRepository(tx).last(owner)

    def changes(self, owner: str, *, after: Position, limit: int, which: JobFilter = ALL) -> JobChanges:
        """Return summaries of the selected jobs that changed after a position; raises NotFoundError."""
        with self.transaction() as tx:
            return JobChangeRepository(tx).after(owner, after, limit=limit, which=which)

    def events(
        self, owner: str, job_id: UUID, *, limit: int, after: int, kind: JobKind | None = None
    ) -> tuple[Event, ...]:
        """Return a job's events after event number `after`, oldest first; raises NotFoundError."""
        with self.transaction() as tx:
            return JobRepository(tx).events(owner, job_id, limit=limit, after=after, kind=kind)

    def history(self, owner: str, job_id: UUID, *, limit: int, after: int, kind: JobKind | None = None) -> History:
        """Return events as `events` does, and whether no more will follow; raises NotFoundError."""
        with self.transaction() as tx:
            # Queried first: a job that has ended by now has its last event by now.
            ended = JobRepository(tx).has_ended(owner, job_id, kind=kind)
            events = JobRepository(tx).events(owner, job_id, limit=limit, after=after)
        is_last = bool(events) and events[-1].is_last
        return History(events, is_whole=is_last or (ended and len(events) < limit))

    def cancel(self, owner: str, job_id: UUID, *, kind: JobKind | None = None) -> Job:
        """Request a job's cancellation, idempotently; raises NotFoundError, ConflictError where it has ended."""
        with self.transaction() as tx:
            job = JobRepository(tx).request_cancel(owner, job_id, kind=kind)
        if job.state == "cancelled":
            # It never started. Where the queue can't be reached its entry stays: a cancelled job is never claimed.
            with suppress(UnavailableError):
                self.queue_control.cancel(job.id)
        return job


def ended(tx: Transaction, owner: str, job_id: UUID, kind: JobKind) -> Job:
    """Return a job to be retried; raises NotFoundError, ConflictError while it has not ended."""
    job = JobRepository(tx).get(owner, job_id, kind=kind)
    if job.state not in FINISHED:
        raise ConflictError(f"The job has not ended, it is {job.state}: wait for its end, or cancel it first.")
    return job
