"""Jobs of every kind, their transitions and progress."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import and_, case, delete, func, or_, select, update
from sqlalchemy.orm import aliased

from app.database import keyset
from app.database.changes import changed
from app.database.engine import lock_for_writing
from app.database.pages import Page, PageRequest
from app.database.transaction import Transaction
from app.jobs.attempts import MAX_STARTS, MIN_PROGRESS, Claim, EarlierAttempts, JobTraces
from app.jobs.change_repository import JobChangeRepository
from app.jobs.histories import (
    PROBLEM,
    PROGRESS,
    STATE,
    job_of,
    read_events,
    read_jobs,
    read_summaries,
    row_of,
    selected,
)
from app.jobs.records import ALL, Job, JobEnded, JobFilter, Problem, no_such_job, too_late_to_cancel
from app.jobs.tables import JobProgressRow, JobRow, JobTransitionRow
from app.jobs.transitions import move, running
from relevance_bayes.records.jobs import FINISHED, MOVES, Event, JobCounts, JobKind, JobState, Progress, Resumption

BY_ITS_OWNER = "requested by its owner"


@dataclass(frozen=True)
class JobRepository:
    """Jobs and their state transitions. Every transition to an end names its attempt.

    A transition is one guarded UPDATE: where it changes no row, the job keeps its state.
    """

    tx: Transaction

    def add(self, job: Job) -> None:
        """Insert a queued job with its first transition. The submitter records its holds."""
        lock_for_writing(self.tx.session.connection())
        self.tx.session.add(row_of(job))
        self.tx.session.flush()
        self.tx.session.add(JobTransitionRow(job_id=job.id, number=1, at=job.created_at, state="queued", attempt=0))
        self.tx.session.flush()
        JobChangeRepository(self.tx).record(job.owner, job.id)
        retry_of = None if job.retry_of is None else str(job.retry_of)
        self.tx.record(
            "job.created",
            job.owner,
            job.path,
            kind=job.kind,
            model=job.for_model,
            dataset_id=str(job.dataset_id),
            retry_of=retry_of,
        )

    def get(self, owner: str, job_id: UUID, *, kind: JobKind | None = None) -> Job:
        """Return a job of this owner, of a kind where one is given; raises NotFoundError."""
        job = self.find(job_id)
        if job is None or job.owner != owner or kind not in (None, job.kind):
            raise no_such_job(job_id, kind)
        return job

    def find(self, job_id: UUID) -> Job | None:
        """Return a job of any owner, or None."""
        query = select(JobRow).where(JobRow.id == job_id)
        return next(iter(read_jobs(self.tx.session, query)), None)

    def page(self, owner: str, part: PageRequest, *, which: JobFilter = ALL) -> Page[Job]:
        """Return a page of jobs; raises InvalidRequestError for an invalid cursor."""
        query = select(JobRow).where(JobRow.owner == owner, *selected(which))
        found = read_jobs(self.tx.session, keyset.by_age(query, JobRow.id, part, keyset.read_id))
        return keyset.page(found, part.limit, lambda job: job, lambda job: job.id)

    def summaries(self, owner: str, part: PageRequest, *, which: JobFilter = ALL) -> Page[Job]:
        """Return a page of jobs without request, plan and result; raises InvalidRequestError for an invalid cursor."""
        query = select(JobRow).where(JobRow.owner == owner, *selected(which))
        found = read_summaries(self.tx.session, keyset.by_age(query, JobRow.id, part, keyset.read_id))
        return keyset.page(found, part.limit, lambda job: job, lambda job: job.id)

    def counts(self, owner: str, *, which: JobFilter = ALL) -> JobCounts:
        """Return the number of jobs that the filter selects, by state."""
        job = JobRow
        query = select(job.state, func.count().label("jobs")).where(job.owner == owner, *selected(which))
        rows = self.tx.session.execute(query.group_by(job.state))
        found = {**dict.fromkeys(MOVES, 0), **{row.state: row.jobs for row in rows}}
        return JobCounts(**found)

    def events(
        self, owner: str, job_id: UUID, *, limit: int, after: int, kind: JobKind | None = None
    ) -> tuple[Event, ...]:
        """Return the events after event number `after`, in order; raises NotFoundError."""
        self._state(owner, job_id, kind)
        return read_events(self.tx.session, job_id, limit=limit, after=after)

    def has_ended(self, owner: str, job_id: UUID, *, kind: JobKind | None = None) -> bool:
        """Return whether a job has ended; raises NotFoundError."""
        return self._state(owner, job_id, kind) in FINISHED

    def event_counts(self, job_ids: Sequence[UUID]) -> Mapping[UUID, int]:
        """Return the number of events of each of these jobs (of any owner); deleted jobs are left out."""
        query = select(JobRow.id, JobRow.events).where(JobRow.id.in_(job_ids))
        return {row.id: row.events for row in self.tx.session.execute(query)}

    def claim(
        self, job_id: UUID, *, resumed_from: Resumption | None = None, traceparent: str | None = None
    ) -> Claim | None:
        """Move to `running` with the next attempt number; None where the job has ended or is to be cancelled.

        Where the attempt before was not interrupted, it has died with its worker: after MAX_STARTS of these without a
        checkpoint or progress in between, the claim is `spent`. `traceparent` is the trace context of the attempt.
        """
        job, now = JobRow, self.tx.clock()
        share, has_progressed = self._progress_of_attempt(job_id)
        died_with_worker = and_(job.state == "running", job.interrupted.is_(False))
        died = case((died_with_worker, 1 if has_progressed else job.deaths + 1), else_=job.deaths)
        values = {
            "attempt": job.attempt + 1,
            "started_at": func.coalesce(job.started_at, now),
            "deaths": died,
            "interrupted": False,
            "attempt_traceparent": traceparent,
            "attempt_share": share,
        }
        required = job.cancel_requested_at.is_(None)
        moved = move(
            self.tx, job_id, "running", (required, died < MAX_STARTS), values, now=now, resumed_from=resumed_from
        )
        if moved is not None:
            return Claim(moved.attempt)
        spent = select(job.attempt).where(job.id == job_id, job.state == "running", required, died >= MAX_STARTS)
        attempt = self.tx.session.scalar(spent)
        return None if attempt is None else Claim(attempt, spent=True)

    def _progress_of_attempt(self, job_id: UUID) -> tuple[float, bool]:
        """Return the greatest share of its work that an attempt completed, and whether the newest one raised it."""
        job = JobRow
        row = self.tx.session.execute(select(job.progress, job.attempt_share).where(job.id == job_id)).one_or_none()
        if row is None or row.progress is None:
            return 0.0, False
        progress, before = PROGRESS.read(row.progress), row.attempt_share or 0.0
        counted = progress.completed / progress.total if progress.total else 0.0
        share = counted if progress.share is None else progress.share
        return max(share, before), share >= before + MIN_PROGRESS

    def hand_back(self, job_id: UUID, attempt: int) -> None:
        """Record that a running attempt was interrupted, so that another worker may resume the job."""
        changed(self.tx.session, running(job_id, attempt).values(interrupted=True))

    def died(self, job_id: UUID, attempt: int, words: str) -> None:
        """Count the death of a running attempt, once, and record the end of its output."""
        job = JobRow
        counted = running(job_id, attempt).where(job.interrupted.is_(False))
        changed(self.tx.session, counted.values(last_words=words, deaths=job.deaths + 1, interrupted=True))

    def earlier_starts(self, job_id: UUID) -> EarlierAttempts | None:
        """Return the recorded attempts of a job; None where there is no such job."""
        retried = aliased(JobRow)
        query = select(JobRow, func.coalesce(retried.attempt_traceparent, retried.traceparent))
        with_retried = query.outerjoin(retried, retried.id == JobRow.retry_of).where(JobRow.id == job_id)
        found = self.tx.session.execute(with_retried.execution_options(populate_existing=True)).one_or_none()
        if found is None:
            return None
        row, retried_trace = found
        has_died = row.state == "running" and not row.interrupted
        traces = JobTraces(row.traceparent, row.tracestate, row.attempt_traceparent, retried_trace)
        return EarlierAttempts(job_of(row), row.running_seconds, has_died, traces)

    def record_running_time(self, job_id: UUID, attempt: int, seconds: float) -> None:
        """Record the running time of all attempts of a job, in seconds, unless the attempt is superseded or ended."""
        changed(self.tx.session, running(job_id, attempt).values(running_seconds=seconds))

    def progress(self, job_id: UUID, attempt: int, progress: Progress) -> bool:
        """Record progress of a running attempt; return False where it is superseded, interrupted or has ended."""
        written = PROGRESS.write(progress)
        row = self.tx.session.execute(
            running(job_id, attempt)
            .where(JobRow.interrupted.is_(False))
            .values(progress=written, events=JobRow.events + 1)
            .returning(JobRow.events, JobRow.owner),
            execution_options={"synchronize_session": False},
        ).one_or_none()
        if row is None:
            return False
        self.tx.session.add(JobProgressRow(job_id=job_id, number=row.events, at=self.tx.clock(), progress=written))
        self.tx.session.flush()
        JobChangeRepository(self.tx).record(row.owner, job_id)
        return True

    def training_times(self, owner: str, *, ended_after: datetime) -> tuple[tuple[datetime, datetime | None], ...]:
        """Return the first start and the end (None: not yet) of an owner's training jobs that ended after a time."""
        job = JobRow
        recent = or_(job.finished_at.is_(None), job.finished_at > ended_after)
        mine = (job.owner == owner, job.kind == "training", job.started_at.is_not(None), recent)
        rows = self.tx.session.execute(select(job.started_at, job.finished_at).where(*mine))
        return tuple((started_at, ended_at) for started_at, ended_at in rows if started_at is not None)

    def is_cancel_requested(self, job_id: UUID) -> bool:
        """Return whether the owner has requested the job's cancellation."""
        requested = select(JobRow.cancel_requested_at).where(JobRow.id == job_id)
        return self.tx.session.scalar(requested) is not None

    def is_needed(self, job_id: UUID, attempt: int) -> bool:
        """Return whether this attempt is running, is the job's newest, and has no request to cancel."""
        job = JobRow
        here = (job.id == job_id, job.state == "running", job.attempt == attempt, job.cancel_requested_at.is_(None))
        return self.tx.session.scalar(select(job.id).where(*here)) is not None

    def request_cancel(self, owner: str, job_id: UUID, *, kind: JobKind | None = None) -> Job:
        """Record a request to cancel (once); a queued job is cancelled at once, a cancelled one is not changed.

        Raises NotFoundError, ConflictError where the job has ended otherwise.
        """
        now, job = self.tx.clock(), JobRow
        mine = (job.owner == owner, *selected(JobFilter(kind)))
        queued = (*mine, job.state == "queued")
        moved = move(self.tx, job_id, "cancelled", queued, {"cancel_requested_at": now}, reason=BY_ITS_OWNER, now=now)
        first = (job.id == job_id, job.state == "running", *mine, job.cancel_requested_at.is_(None))
        is_new = moved is not None or bool(
            changed(self.tx.session, update(job).where(*first).values(cancel_requested_at=now))
        )
        found = self.get(owner, job_id, kind=kind)
        if is_new:
            JobChangeRepository(self.tx).record(owner, job_id)
            self.tx.record("job.cancelled", owner, found.path)
        elif found.finished_at is not None and found.state != "cancelled":
            raise too_late_to_cancel(found)
        return found

    def succeed(self, job_id: UUID, attempt: int, progress: Progress | None = None) -> JobEnded | None:
        """Record the end of a training, all of whose work is complete, with its last progress; return None, and record
        nothing, where the attempt is superseded.

        The version is recorded in the same transaction, and set by `set_version`.
        """
        now = self.tx.clock()
        if progress is not None and progress.share is not None:
            progress = replace(progress, share=1.0, seconds_left=0.0)
        values = {} if progress is None else {"progress": PROGRESS.write(progress)}
        moved = move(self.tx, job_id, "succeeded", (JobRow.attempt == attempt,), values, now=now)
        return None if moved is None else JobEnded(job_id, moved.owner, "training", "succeeded", now)

    def set_version(self, job_id: UUID, *, model: str, number: int) -> None:
        """Record the version that a training made."""
        named = update(JobRow).where(JobRow.id == job_id)
        changed(self.tx.session, named.values(model=model, version=number))

    def conclude(self, job_id: UUID, attempt: int, result: str) -> bool:
        """Record the end of another job with its result; return False, and record nothing, where it is superseded.

        All other effects of the end are part of the same transaction.
        """
        here, values = (JobRow.attempt == attempt,), {"result": result}
        return move(self.tx, job_id, "succeeded", here, values, now=self.tx.clock()) is not None

    def fail(self, job_id: UUID, attempt: int, problem: Problem) -> bool:
        """Record that the attempt (0: none was made) failed; return False where it is superseded or has ended."""
        values = {"error": PROBLEM.write(problem)}
        here = (JobRow.attempt == attempt,)
        return move(self.tx, job_id, "failed", here, values, reason=problem.kind, now=self.tx.clock()) is not None

    def cancelled(self, job_id: UUID, attempt: int) -> bool:
        """Record that the attempt (0: none was made) was cancelled; return False where it is superseded or ended."""
        here = (JobRow.attempt == attempt,)
        return move(self.tx, job_id, "cancelled", here, {}, reason=BY_ITS_OWNER, now=self.tx.clock()) is not None

    def remove(self, owner: str, job_id: UUID) -> None:
        """Delete an ended job that trained no version, with its events; raises NotFoundError for any other."""
        job = JobRow
        mine = (job.id == job_id, job.owner == owner, job.kind != "training", job.finished_at.is_not(None))
        path = self.get(owner, job_id).path
        if not changed(self.tx.session, delete(job).where(*mine)):
            raise no_such_job(job_id, None)
        self.tx.record("job.deleted", owner, path)

    def _state(self, owner: str, job_id: UUID, kind: JobKind | None) -> JobState:
        """Return the state of a job; raises NotFoundError."""
        job = JobRow
        now = self.tx.session.scalar(
            select(job.state).where(job.owner == owner, job.id == job_id, *selected(JobFilter(kind)))
        )
        if now is None:
            raise no_such_job(job_id, kind)
        return STATE.validate_python(now)
