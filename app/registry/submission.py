"""Submission of jobs: each is recorded, queued and holds the resources it needs, in one transaction."""

from app.database.transaction import Transaction
from app.datasets.repository import DatasetRepository
from app.errors import TooManyJobsError
from app.http.idempotency_records import Keyed
from app.http.key_repository import IdempotencyKeyRepository
from app.jobs.backlog_repository import BacklogRepository
from app.jobs.records import Job
from app.jobs.repository import JobRepository
from app.registry.repository import ModelRepository


def submit(tx: Transaction, job: Job) -> None:
    """Record a queued job and its holds.

    Raises NotFoundError where its dataset, or a version that it uses, was deleted.
    """
    JobRepository(tx).add(job)
    DatasetRepository(tx).hold(job.owner, job.dataset_id, job_id=job.id)
    ModelRepository(tx).hold(job.owner, job.for_model, versions=job.scored, job_id=job.id)


def enqueue(tx: Transaction, job: Job, *, max_unfinished: int, keyed: Keyed[Job] | None = None) -> Job:
    """Record and queue a job, and store the response to a `keyed` request, in one transaction.

    Raises NotFoundError (a resource it needs was deleted), TooManyJobsError, KeyInUseError.
    """
    if keyed is not None:
        IdempotencyKeyRepository(tx).keep(keyed.key, keyed.response(job))
    submit(tx, job)
    # Counted after the insert: on SQLite no other job can be added from here on.
    if BacklogRepository(tx).count(job.owner) > max_unfinished:
        raise TooManyJobsError(f"{max_unfinished:,} jobs are unfinished, the maximum: try again later, or cancel some.")
    tx.queue.submit(job.id, owner=job.owner, kind=job.kind, priority=job.priority)
    return job
