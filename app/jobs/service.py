"""Jobs of every kind, once they were asked for: what their owner sees of them, and how one is ended."""

from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from app.database.pages import Page, PageRequest
from app.database.transaction import OpenTransaction, Transaction
from app.errors import ConflictError, UnavailableError
from app.jobs.ports import QueueControl
from app.jobs.records import ALL, Job, JobFilter
from app.jobs.repository import JobRepository
from relevance_bayes.types.jobs import FINISHED, Event, JobKind


@dataclass(frozen=True)
class History:
    """A stretch of what happened to a job; `is_whole`: it reaches to the job's end."""

    events: tuple[Event, ...]
    is_whole: bool


@dataclass(frozen=True)
class Jobs:
    """Jobs as their owner meets them; where a `kind` is said, those of others are not there."""

    transaction: OpenTransaction
    queue_control: QueueControl

    def get(self, owner: str, job_id: UUID, *, kind: JobKind | None = None) -> Job:
        """One job; raises NotFoundError."""
        with self.transaction() as tx:
            return JobRepository(tx).get(owner, job_id, kind=kind)

    def page(self, owner: str, part: PageRequest, *, which: JobFilter = ALL) -> Page[Job]:
        """The jobs that are meant."""
        with self.transaction() as tx:
            return JobRepository(tx).page(owner, part, which=which)

    def events(
        self, owner: str, job_id: UUID, *, limit: int, after: int, kind: JobKind | None = None
    ) -> tuple[Event, ...]:
        """Return what happened to a job after event number `after`, oldest first; raises NotFoundError."""
        with self.transaction() as tx:
            return JobRepository(tx).events(owner, job_id, limit=limit, after=after, kind=kind)

    def history(self, owner: str, job_id: UUID, *, limit: int, after: int, kind: JobKind | None = None) -> History:
        """The same, and whether that is all there will ever be; raises NotFoundError."""
        with self.transaction() as tx:
            # Asked first: a job that has ended by now has its last event by now.
            ended = JobRepository(tx).has_ended(owner, job_id, kind=kind)
            events = JobRepository(tx).events(owner, job_id, limit=limit, after=after)
        is_last = bool(events) and events[-1].is_last
        return History(events, is_whole=is_last or (ended and len(events) < limit))

    def cancel(self, owner: str, job_id: UUID, *, kind: JobKind | None = None) -> Job:
        """Ask for a job's end, however often; raises NotFoundError, ConflictError when it has ended otherwise."""
        with self.transaction() as tx:
            job = JobRepository(tx).request_cancel(owner, job_id, kind=kind)
        if job.state == "cancelled":
            # It never began. Should the engine be out of reach, its entry does no harm: a cancelled job is not claimed.
            with suppress(UnavailableError):
                self.queue_control.cancel(job.id)
        return job


def ended(tx: Transaction, owner: str, job_id: UUID, kind: JobKind) -> Job:
    """A job to be done again; raises NotFoundError, ConflictError while it has not ended."""
    job = JobRepository(tx).get(owner, job_id, kind=kind)
    if job.state not in FINISHED:
        raise ConflictError(f"The job has not ended, it is {job.state}: let it end, or cancel it first.")
    return job
