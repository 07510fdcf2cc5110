"""Rows of jobs: inserted at submission, read with transitions and events."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, Select, null, select, union_all
from sqlalchemy.orm import Session, defer

from app.database.json_documents import Document
from app.jobs.records import Job, JobFilter, Problem
from app.jobs.tables import JobProgressRow, JobRow, JobTransitionRow
from relevance_bayes.records.jobs import Event, ExpectedCost, JobKind, JobState, Progress, Resumption, Transition

PROGRESS = Document(TypeAdapter(Progress))
PROBLEM = Document(TypeAdapter(Problem))
EXPECTED_COST = Document(TypeAdapter(ExpectedCost))
KIND: TypeAdapter[JobKind] = TypeAdapter(JobKind)
STATE: TypeAdapter[JobState] = TypeAdapter(JobState)


Happened: TypeAlias = Select[int, datetime, str | None, int | None, str | None, int | None, datetime | None, str | None]


def read_jobs(session: Session, query: Select[JobRow]) -> list[Job]:
    """Return the jobs of a query, in its order, each with its transitions."""
    return _with_transitions(session, query, job_of)


def read_summaries(session: Session, query: Select[JobRow]) -> list[Job]:
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


def read_events(session: Session, job_id: UUID, *, limit: int, after: int) -> tuple[Event, ...]:
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


def job_of(row: JobRow, transitions: tuple[Transition, ...] = ()) -> Job:
    """Return the job of a row."""
    return replace(_summary(row, transitions), request=row.request, plan=row.plan, result=row.result)


def _summary(row: JobRow, transitions: tuple[Transition, ...]) -> Job:
    return Job(
        id=row.id,
        owner=row.owner,
        kind=KIND.validate_python(row.kind),
        state=STATE.validate_python(row.state),
        created_at=row.created_at,
        dataset_id=row.dataset_id,
        for_model=row.for_model,
        request="",
        plan="",
        scored=tuple(number for number in (row.of_version, row.compared_version) if number is not None),
        attempt=row.attempt,
        started_at=row.started_at,
        finished_at=row.finished_at,
        cancel_requested_at=row.cancel_requested_at,
        progress=None if row.progress is None else PROGRESS.read(row.progress),
        model=row.model,
        version=row.version,
        error=None if row.error is None else PROBLEM.read(row.error),
        transitions=transitions,
        last_words=row.last_words,
        priority=row.priority,
        retry_of=row.retry_of,
        submitted_by=row.submitted_by,
        submitted_with=row.submitted_with,
        expected_cost=EXPECTED_COST.read_optional(row.expected_cost),
        change=row.change,
    )


def row_of(job: Job) -> JobRow:
    """Return the row of a queued job."""
    return JobRow(
        id=job.id,
        owner=job.owner,
        kind=job.kind,
        state="queued",
        created_at=job.created_at,
        dataset_id=job.dataset_id,
        request=job.request,
        plan=job.plan,
        for_model=job.for_model,
        of_version=job.scored[0] if job.scored else None,
        compared_version=job.scored[1] if len(job.scored) > 1 else None,
        priority=job.priority,
        retry_of=job.retry_of,
        submitted_by=job.submitted_by,
        submitted_with=job.submitted_with,
        traceparent=job.traceparent,
        tracestate=job.tracestate,
        expected_cost=None if job.expected_cost is None else EXPECTED_COST.write(job.expected_cost),
        events=1,
    )
