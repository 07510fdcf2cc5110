"""Transitions of jobs: one guarded UPDATE each, which changes no row where another transition came before."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, Update, delete, update

from app.database.changes import changed
from app.database.holds import release
from app.database.transaction import Transaction
from app.jobs.change_repository import JobChangeRepository
from app.jobs.histories import KIND
from app.jobs.records import JobEnded
from app.jobs.tables import JobCheckpointRow, JobRow, JobTransitionRow
from relevance_bayes.records.jobs import FINISHED, MOVES, JobState, Resumption


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
