"""Retention: deletion of expired rows in short transactions."""

from uuid import UUID

from sqlalchemy import Select, delete, func, select, text, update
from sqlalchemy.orm import Session

from app.storage.changes import changed
from app.storage.tables import JobProgressRow, TrainingJobRow, WebhookAttemptRow, WebhookDeliveryRow
from app.storage.tables.jobs import PROGRESS_KEPT
from app.storage.types import SecondsSince

PROGRESS_AT_ONCE = 500
JOBS_AT_ONCE = 100
DELIVERIES_AT_ONCE = 100


def forget_progress(session: Session, *, ended_before: float) -> bool:
    """Remove some progress of jobs that ended so many seconds ago, the oldest first; whether there may be more."""
    job = TrainingJobRow
    # The oldest as the index has them, and not all that are old enough: few were when this was done last.
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


def forget_deliveries(session: Session, which: Select[UUID]) -> int:
    """Remove these deliveries with their attempts; how many there were."""
    found = session.scalars(which).all()
    changed(session, delete(WebhookAttemptRow).where(WebhookAttemptRow.delivery_id.in_(found)))
    return changed(session, delete(WebhookDeliveryRow).where(WebhookDeliveryRow.id.in_(found)))
