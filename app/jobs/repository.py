"""Jobs of every kind: their rows, changes, transitions and progress."""

import secrets
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TypeAlias
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Update,
    and_,
    case,
    delete,
    func,
    null,
    select,
    union_all,
    update,
)
from sqlalchemy.orm import Session, aliased, defer

from app.database import keyset
from app.database.base import Columns, Document, changed, insertion
from app.database.engine import lock_for_writing
from app.database.keyset import KeysetPage, PageRequest
from app.database.notifier import notify
from app.database.transaction import Transaction, release
from app.jobs.records import (
    ALL,
    MAX_STARTS,
    MIN_PROGRESS,
    Claim,
    EarlierAttempts,
    Job,
    JobChanges,
    JobEnded,
    JobFailure,
    JobFilter,
    JobTraces,
    Position,
    changes_id,
    no_such_job,
    too_late_to_cancel,
)
from app.jobs.tables import JobChangeRow, JobCheckpointRow, JobProgressRow, JobRow, JobTransitionRow
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.jobs import (
    FINISHED,
    MOVES,
    Event,
    ExpectedCost,
    JobKind,
    JobState,
    Progress,
    Resumption,
    Transition,
)

JOB = Columns(Job)
PROGRESS = Document(TypeAdapter(Progress))
PROBLEM = Document(TypeAdapter(JobFailure))
EXPECTED_COST = Document(TypeAdapter(ExpectedCost))
KIND: TypeAdapter[JobKind] = TypeAdapter(JobKind)
STATE: TypeAdapter[JobState] = TypeAdapter(JobState)


Happened: TypeAlias = Select[int, datetime, str | None, int | None, str | None, int | None, datetime | None, str | None]


def _read_jobs(session: Session, query: Select[JobRow]) -> list[Job]:
    """Return the jobs of a query, in its order, each with its transitions."""
    return _with_transitions(session, query, _job_of)


def _read_summaries(session: Session, query: Select[JobRow]) -> list[Job]:
    """Return the jobs of a query as `jobs` does, without request, plan and result, which may be large."""
    row = JobRow
    without = query.options(*(defer(column, raiseload=True) for column in (row.request, row.plan, row.result)))
    return _with_transitions(session, without, _summary)


def selected(which: JobFilter) -> list[ColumnElement[bool]]:
    """Return the conditions of a filter."""
    job = JobRow
    requested = {
        job.kind: which.kind,
        job.state: which.state,
        job.for_model: which.model,
        job.of_version: which.version,
        job.dataset_id: which.dataset_id,
    }
    return [column == value for column, value in requested.items() if value is not None]


def _with_transitions(
    session: Session, query: Select[JobRow], read: Callable[[JobRow, tuple[Transition, ...]], Job]
) -> list[Job]:
    rows = session.scalars(query.execution_options(populate_existing=True)).all()
    made: dict[UUID, list[Transition]] = defaultdict(list)
    moves = (
        select(JobTransitionRow)
        .where(JobTransitionRow.job_id.in_([row.id for row in rows]))
        .order_by(JobTransitionRow.job_id, JobTransitionRow.number)
    )
    for move in session.scalars(moves):
        resumed = _resumed(move.resumed_attempt, move.resumed_at)
        made[move.job_id].append(
            Transition(STATE.validate_python(move.state), move.at, move.attempt, move.reason, resumed)
        )
    return [read(row, tuple(made[row.id])) for row in rows]


def _read_events(session: Session, job_id: UUID, *, limit: int, after: int) -> tuple[Event, ...]:
    """Return transitions and progress with numbers above `after`, in order; one statement, so that none is missed."""
    move, progress = JobTransitionRow, JobProgressRow
    moves: Happened = select(
        move.number, move.at, move.state, move.attempt, move.reason, move.resumed_attempt, move.resumed_at, null()
    ).where(move.job_id == job_id, move.number > after)
    advances: Happened = select(
        progress.number, progress.at, null(), null(), null(), null(), null(), progress.progress
    ).where(progress.job_id == job_id, progress.number > after)
    found = session.execute(union_all(moves, advances).order_by("number").limit(limit))
    return tuple(_event(*row) for row in found)


def _event(
    number: int,
    at: datetime,
    moved: str | None,
    attempt: int | None,
    reason: str | None,
    resumed_attempt: int | None,
    resumed_at: datetime | None,
    written: str | None,
) -> Event:
    if written is not None:
        return Event(number, at, "progress", progress=PROGRESS.read(written))
    made = Transition(
        STATE.validate_python(moved or ""), at, attempt or 0, reason, _resumed(resumed_attempt, resumed_at)
    )
    return Event(number, at, "transition", transition=made)


def _resumed(attempt: int | None, at: datetime | None) -> Resumption | None:
    return None if attempt is None or at is None else Resumption(attempt, at)


def _job_of(row: JobRow, transitions: tuple[Transition, ...] = ()) -> Job:
    """Return the job of a row."""
    return replace(_summary(row, transitions), request=row.request, plan=row.plan, result=row.result)


def _summary(row: JobRow, transitions: tuple[Transition, ...]) -> Job:
    return JOB.read(
        row,
        request="",
        plan="",
        result=None,
        scored=tuple(number for number in (row.of_version, row.compared_version) if number is not None),
        progress=PROGRESS.read_optional(row.progress),
        error=PROBLEM.read_optional(row.error),
        transitions=transitions,
        traceparent=None,
        tracestate=None,
        expected_cost=EXPECTED_COST.read_optional(row.expected_cost),
    )


def row_of(job: Job) -> JobRow:
    """Return the row of a queued job."""
    return JOB.write(
        JobRow,
        job,
        of_version=job.scored[0] if job.scored else None,
        compared_version=job.scored[1] if len(job.scored) > 1 else None,
        expected_cost=None if job.expected_cost is None else EXPECTED_COST.write(job.expected_cost),
        events=1,
    )


EPOCH_BYTES = 8


@dataclass(frozen=True)
class JobChangeRepository:
    """Changes of jobs. A job has the number of its last change, so that a reader finds all that changed after one.

    A number is taken under the lock of the owner's counter, as the last step of a transaction, after its audit: who
    sees a number sees every change with a smaller one.
    """

    tx: Transaction

    def record(self, owner: str, job_id: UUID) -> None:
        """Number a change of a job at the end of this transaction, and notify those who wait for it, or for any of its
        owner's jobs."""
        self.tx.before_commit((owner, str(job_id)), partial(self._number, owner, job_id))

    def last(self, owner: str) -> Position:
        """Return the position of the last change; 0: none yet."""
        row = JobChangeRow
        query = select(row.number, row.epoch).where(row.id == changes_id(owner))
        found = self.tx.session.execute(query).one_or_none()
        return Position() if found is None else Position(found.number, found.epoch)

    def after(self, owner: str, after: Position, *, limit: int, which: JobFilter = ALL) -> JobChanges:
        """Return the jobs that changed after a position, in the order of their last changes, as they are now.

        Raises NotFoundError where the position is that of a change which this database does not have.
        """
        # Read first: each change up to it is seen by the second query.
        last = self.last(owner)
        if after.number and (after.epoch != last.epoch or after.number > last.number):
            raise NotFoundError(f"There is no change {after} in this database: get the list of jobs again.")
        if not last.number:
            return JobChanges((), last)
        job = JobRow
        query = select(job).where(job.owner == owner, job.change > after.number, *selected(which))
        found = _read_summaries(self.tx.session, query.order_by(job.change).limit(limit))
        if found and (len(found) == limit or found[-1].change > last.number):
            last = replace(last, number=found[-1].change)
        return JobChanges(tuple(found), last)

    def numbers(self, ids: Sequence[UUID]) -> Mapping[UUID, int]:
        """Return the last numbers of owners, by the ids of `changes_id`; those without one are left out."""
        query = select(JobChangeRow.id, JobChangeRow.number).where(JobChangeRow.id.in_(ids))
        return {row.id: row.number for row in self.tx.session.execute(query)}

    def _number(self, owner: str, job_id: UUID) -> None:
        session, counter = self.tx.session, changes_id(owner)
        epoch = secrets.token_hex(EPOCH_BYTES)
        first = insertion(session, JobChangeRow).values(id=counter, owner=owner, epoch=epoch, number=1)
        following = first.on_conflict_do_update(index_elements=["id"], set_={"number": JobChangeRow.number + 1})
        number = session.scalar(following.returning(JobChangeRow.number))
        changed(session, update(JobRow).where(JobRow.id == job_id).values(change=number))
        notify(session.connection(), job_id, counter)


def renew_epochs(connection: Connection) -> None:
    """Replace the epochs of all owners: positions that readers have are refused from now on."""
    connection.execute(update(JobChangeRow).values(epoch=secrets.token_hex(EPOCH_BYTES)))


@dataclass(frozen=True)
class Moved:
    """A job that made a transition: its owner, and the number of its attempt."""

    owner: str
    attempt: int


def move(
    tx: Transaction,
    job_id: UUID,
    state: JobState,
    guards: tuple[ColumnElement[bool], ...],
    values: Mapping[str, object],
    *,
    now: datetime,
    reason: str | None = None,
    resumed_from: Resumption | None = None,
) -> Moved | None:
    """Make a transition, if it is allowed from the job's state and the guards hold; return None otherwise."""
    ends = {"finished_at": now} if state in FINISHED else {}
    row = tx.session.execute(
        update(JobRow)
        .where(JobRow.id == job_id, JobRow.state.in_(_leading_to(state)), *guards)
        .values(state=state, events=JobRow.events + 1, **ends, **values)
        .returning(
            JobRow.owner,
            JobRow.kind,
            JobRow.attempt,
            JobRow.events,
            JobRow.started_at,
            JobRow.traceparent,
            JobRow.tracestate,
        ),
        execution_options={"synchronize_session": False},
    ).one_or_none()
    if row is None:
        return None
    moved = Moved(row.owner, row.attempt)
    if ends:
        release(tx, job_id)
        changed(tx.session, delete(JobCheckpointRow).where(JobCheckpointRow.job_id == job_id))
    tx.session.add(
        JobTransitionRow(
            job_id=job_id,
            number=row.events,
            at=now,
            state=state,
            attempt=moved.attempt,
            reason=reason,
            resumed_attempt=None if resumed_from is None else resumed_from.attempt,
            resumed_at=None if resumed_from is None else resumed_from.at,
        )
    )
    tx.session.flush()
    JobChangeRepository(tx).record(moved.owner, job_id)
    if ends:
        kind = KIND.validate_python(row.kind)
        trace = row.traceparent, row.tracestate
        tx.publish(JobEnded(job_id, moved.owner, kind, state, now, row.started_at, *trace))
    return moved


def running(job_id: UUID, attempt: int) -> Update:
    """Return an UPDATE of a job while this attempt is running."""
    return update(JobRow).where(JobRow.id == job_id, JobRow.state == "running", JobRow.attempt == attempt)


def _leading_to(state: JobState) -> list[JobState]:
    return [now for now, following in MOVES.items() if state in following]


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
        return next(iter(_read_jobs(self.tx.session, query)), None)

    def page(self, owner: str, part: PageRequest, *, which: JobFilter = ALL) -> KeysetPage[Job]:
        """Return a page of jobs; raises InvalidRequestError for an invalid cursor."""
        query = select(JobRow).where(JobRow.owner == owner, *selected(which))
        found = _read_jobs(self.tx.session, keyset.by_age(query, JobRow.id, part, keyset.read_id))
        return keyset.page(found, part.limit, lambda job: job, lambda job: job.id)

    def summaries(self, owner: str, part: PageRequest, *, which: JobFilter = ALL) -> KeysetPage[Job]:
        """Return a page of jobs without request, plan and result; raises InvalidRequestError for an invalid cursor."""
        query = select(JobRow).where(JobRow.owner == owner, *selected(which))
        found = _read_summaries(self.tx.session, keyset.by_age(query, JobRow.id, part, keyset.read_id))
        return keyset.page(found, part.limit, lambda job: job, lambda job: job.id)

    def events(
        self, owner: str, job_id: UUID, *, limit: int, after: int, kind: JobKind | None = None
    ) -> tuple[Event, ...]:
        """Return the events after event number `after`, in order; raises NotFoundError."""
        self._state(owner, job_id, kind)
        return _read_events(self.tx.session, job_id, limit=limit, after=after)

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
        return EarlierAttempts(_job_of(row), row.running_seconds, has_died, traces)

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

    def fail(self, job_id: UUID, attempt: int, problem: JobFailure) -> bool:
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
