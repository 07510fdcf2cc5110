"""Retention of ended jobs and of their progress: deletion of expired rows in short transactions."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from sqlalchemy import delete, func, select, text, update

from app.database.base import SecondsSince, changed
from app.database.transaction import Transaction
from app.jobs.tables import PROGRESS_KEPT, JobProgressRow, JobRow

PROGRESS_AT_ONCE = 500
JOBS_AT_ONCE = 100
UNSYNCHRONIZED = {"synchronize_session": False}


def forget_progress(tx: Transaction, *, ended_before: float) -> bool:
    """Delete some progress of jobs that ended so many seconds ago, oldest first; return whether there may be more."""
    session, job = tx.session, JobRow
    # The oldest by the index, not all that have expired: few have since the last call.
    oldest = session.execute(
        select(job.id, SecondsSince(job.finished_at))
        .where(text(PROGRESS_KEPT))
        .order_by(job.finished_at)
        .limit(JOBS_AT_ONCE)
    ).all()
    ended = [job_id for job_id, seconds in oldest if seconds > ended_before]
    if not ended:
        return False
    left = PROGRESS_AT_ONCE
    for job_id in ended:
        first = (
            select(JobProgressRow.number)
            .where(JobProgressRow.job_id == job_id)
            .order_by(JobProgressRow.number)
            .limit(left)
            .subquery()
        )
        last = select(func.max(first.c.number)).scalar_subquery()
        gone = delete(JobProgressRow).where(JobProgressRow.job_id == job_id, JobProgressRow.number <= last)
        left -= changed(session, gone)
        if left == 0:
            return True
        changed(session, update(JobRow).where(JobRow.id == job_id).values(progress_kept=False))
    return len(ended) == JOBS_AT_ONCE


def expired_jobs(tx: Transaction, *, ended_before: float, after: UUID | None) -> Sequence[UUID]:
    """Return some jobs that ended so many seconds ago, of all owners, in the order of their ids, after one of them."""
    job = JobRow
    query = select(job.id).where(job.finished_at.is_not(None), SecondsSince(job.finished_at) > ended_before)
    if after is not None:
        query = query.where(job.id > after)
    return tx.session.scalars(query.order_by(job.id).limit(JOBS_AT_ONCE)).all()


def forget_jobs(tx: Transaction, job_ids: Collection[UUID]) -> Counter[str]:
    """Delete ended jobs that trained no version, with all that belongs to them; return their numbers by owner."""
    job = JobRow
    mine = delete(job).where(job.id.in_(job_ids), job.finished_at.is_not(None))
    return Counter(tx.session.scalars(mine.returning(job.owner), execution_options=UNSYNCHRONIZED).all())


def record_forgotten(tx: Transaction, jobs: Mapping[str, int]) -> None:
    """Record the numbers of deleted jobs by owner, for the audit: an entry for each owner, and not for each job."""
    for owner, number in jobs.items():
        tx.record("job.deleted", owner, "/v1/jobs", jobs=number)
