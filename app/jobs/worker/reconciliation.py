"""Reconciliation of jobs with the queue: a job whose entry in the queue has ended is ended too."""

from uuid import UUID

from app.database.transaction import OpenTransaction
from app.jobs.backlog_repository import BacklogRepository
from app.jobs.ports import Recovery
from app.jobs.repository import JobRepository
from app.jobs.worker.job_log import JobEvent
from app.jobs.worker.problems import BY_ENDING

MAX_AT_ONCE = 1000
"""Jobs per call: the next call continues after them, so that a long queue does not delay heartbeats."""


def reconcile_jobs(transaction: OpenTransaction, recovery: Recovery, *, after: UUID | None = None) -> UUID | None:
    """End jobs that had too many attempts, ran out of time, were cancelled or failed; raises UnavailableError.

    Jobs after the job `after` are checked, oldest first; the result is the `after` of the next call.
    """
    with transaction() as tx:
        found = BacklogRepository(tx).page(after=after, limit=MAX_AT_ONCE)
    attempts = {job_id: attempt for job_id, _, attempt in found}
    for job_id, ending in recovery.endings(list(attempts)).items():
        with transaction() as tx:
            # Another process may have ended it in between: these two then change nothing.
            if JobRepository(tx).cancel_requested(job_id):
                ended = JobRepository(tx).cancelled(job_id, attempts[job_id])
            else:
                ended = JobRepository(tx).fail(job_id, attempts[job_id], BY_ENDING[ending])
            job = JobRepository(tx).find(job_id) if ended else None
        if job is not None:
            JobEvent(job_id, job.kind, job.attempt).ended(job)
    return found[-1][0] if len(found) == MAX_AT_ONCE else None
