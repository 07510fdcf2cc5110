"""Submission of jobs: each is recorded, queued and holds the resources it needs, in one transaction."""

from app.accounts.limits import MODELS, UNFINISHED_JOBS, check_quota
from app.database.transaction import Transaction
from app.datasets.repository import DatasetRepository
from app.http.idempotency_records import Keyed
from app.http.key_repository import IdempotencyKeyRepository
from app.jobs.records import Job
from app.jobs.repository import JobRepository
from app.jobs.service import check_training_time
from app.jobs.statistics_repository import BacklogRepository
from app.registry.repository import ModelRepository


def count_models(tx: Transaction, owner: str) -> int:
    """Return the number of an owner's models, those of unfinished training jobs included."""
    return ModelRepository(tx).count(owner, planned=BacklogRepository(tx).models_in_training(owner))


def check_model_quota(tx: Transaction, owner: str, name: str) -> None:
    """Raise QuotaExceededError where a model of this name would be one more than the owner's limit."""

    def count() -> int:
        planned = BacklogRepository(tx).models_in_training(owner)
        if name in planned or ModelRepository(tx).find(owner, name) is not None:
            return 0
        return ModelRepository(tx).count(owner, planned=planned | {name})

    check_quota(tx, owner, MODELS, count)


def submit(tx: Transaction, job: Job) -> None:
    """Record a queued job and its holds.

    Raises NotFoundError where its dataset, or a version that it uses, was deleted.
    """
    JobRepository(tx).add(job)
    DatasetRepository(tx).hold(job.owner, job.dataset_id, job_id=job.id)
    ModelRepository(tx).hold(job.owner, job.for_model, versions=job.scored, job_id=job.id)


def enqueue(tx: Transaction, job: Job, *, keyed: Keyed[Job] | None = None) -> Job:
    """Record and queue a job, and store the response to a `keyed` request, in one transaction.

    Raises NotFoundError (a resource it needs was deleted), TooManyJobsError, KeyInUseError; for a training
    QuotaExceededError (models), TrainingTimeError.
    """
    if keyed is not None:
        IdempotencyKeyRepository(tx).keep(keyed.key, keyed.response(job))
    check_quota(tx, job.owner, UNFINISHED_JOBS, lambda: BacklogRepository(tx).count(job.owner) + 1)
    if job.kind == "training":
        check_training_time(tx, job.owner)
        check_model_quota(tx, job.owner, job.for_model)
    submit(tx, job)
    tx.queue.submit(job.id, owner=job.owner, kind=job.kind, priority=job.priority)
    return job
