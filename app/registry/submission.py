"""Submission of jobs: recorded and queued with a hold on what they need, all or nothing."""

from app.database.transaction import Transaction
from app.datasets.repository import DatasetRepository
from app.errors import TooManyJobsError
from app.http.idempotency_records import Keyed
from app.http.key_repository import IdempotencyKeyRepository
from app.jobs.records import Job
from app.jobs.repository import JobRepository
from app.registry.repository import ModelRepository


def submit(tx: Transaction, job: Job) -> None:
    """Record a queued job, and hold what it needs.

    Raises NotFoundError when its dataset, or a version that it scores, is gone.
    """
    JobRepository(tx).add(job)
    DatasetRepository(tx).hold(job.owner, job.dataset_id, job_id=job.id)
    ModelRepository(tx).hold(job.owner, job.for_model, versions=job.scored, job_id=job.id)


def enqueue(tx: Transaction, job: Job, *, max_unfinished: int, keyed: Keyed[Job] | None = None) -> Job:
    """Record and queue a job, and keep the response to a `keyed` request, all or nothing.

    Raises NotFoundError (what it needs was deleted), TooManyJobsError, KeyInUseError.
    """
    if keyed is not None:
        IdempotencyKeyRepository(tx).keep(keyed.key, keyed.response(job))
    submit(tx, job)
    # Counted once the job is in: on SQLite nobody else adds one from here on.
    if JobRepository(tx).count_unfinished(job.owner) > max_unfinished:
        raise TooManyJobsError(
            f"{max_unfinished:,} jobs have not ended yet, and more may not wait: try again later, or cancel some."
        )
    tx.queue.submit(job.id, owner=job.owner, kind=job.kind, priority=job.priority)
    return job
