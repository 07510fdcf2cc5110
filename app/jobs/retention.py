"""Retention of progress: deletion of expired rows in short transactions."""

from sqlalchemy import delete, func, select, text, update

from app.database.changes import changed
from app.database.column_types import SecondsSince
from app.database.transaction import Transaction
from app.jobs.tables import PROGRESS_KEPT, JobProgressRow, TrainingJobRow

PROGRESS_AT_ONCE = 500
JOBS_AT_ONCE = 100


def forget_progress(tx: Transaction, *, ended_before: float) -> bool:
    """Delete some progress of jobs that ended so many seconds ago, oldest first; return whether there may be more."""
    session, job = tx.session, TrainingJobRow
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
        changed(session, update(TrainingJobRow).where(TrainingJobRow.id == job_id).values(progress_kept=False))
    return len(ended) == JOBS_AT_ONCE
