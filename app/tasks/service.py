"""Training: from an owner's request to a queued job."""

from dataclasses import dataclass, replace
from uuid import UUID

from app.database.transaction import Clock, OpenTransaction, Transaction
from app.datasets.repository import DatasetRepository
from app.errors import ConflictError
from app.http.idempotency_records import Keyed
from app.jobs.records import Job
from app.jobs.repository import JobRepository
from app.jobs.service import ended
from app.jobs.statistics_repository import WorkerRepository
from app.registry.records import Version
from app.registry.repository import ModelRepository
from app.registry.submission import enqueue
from app.registry.trainings import TRAINING
from app.tasks import task_of
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.jobs import Progress
from relevance_bayes.records.models import Model
from relevance_bayes.tasks.union import NewVersion, TrainingPlan, TrainingRequest, plan


@dataclass(frozen=True)
class TrainingService:
    """Submission and retry of training jobs."""

    transaction: OpenTransaction
    clock: Clock
    silence_seconds: float = 15.0
    """The time since its last heartbeat after which a worker's speed does not count."""

    def submit(
        self,
        owner: str,
        request: TrainingRequest,
        *,
        retry_of: UUID | None = None,
        keyed: Keyed[Job] | None = None,
    ) -> Job:
        """Plan, record and queue a job, and store the response to a `keyed` request, in one transaction.

        Raises NotFoundError (dataset), InvalidRequestError (no plan can be made), ConflictError (the model's versions
        have another task, target or other inputs), TooManyJobsError, KeyInUseError,
        QuotaExceededError (models), TrainingTimeError.
        """
        with self.transaction() as tx:
            dataset = DatasetRepository(tx).get(owner, request.dataset_id)
        made = plan(request, dataset)
        job = TRAINING.queued(owner, request, made, at=self.clock(), retry_of=retry_of)
        # A second transaction, so that planning ten thousand columns blocks no writer; `add` refuses a dataset that was
        # deleted in between.
        with self.transaction() as tx:
            _refuse_another_meaning(ModelRepository(tx).find(owner, made.model), made)
            cost = task_of(made).cost(made, dataset)
            if cost is not None:
                job = replace(job, expected_cost=cost.at(WorkerRepository(tx).speed(within=self.silence_seconds)))
            return enqueue(tx, job, keyed=keyed)

    def retry(self, owner: str, job_id: UUID, *, keyed: Keyed[Job] | None = None) -> Job:
        """Return a new job with the same request, planned again; raises ConflictError while the job has not ended.

        Raises NotFoundError (job, dataset), and the errors of `submit`.
        """
        with self.transaction() as tx:
            job = ended(tx, owner, job_id, "training")
        request, _ = TRAINING.read(job)
        return self.submit(owner, request, retry_of=job.id, keyed=keyed)


def finish_training(
    tx: Transaction, job_id: UUID, attempt: int, version: NewVersion, progress: Progress | None = None
) -> Version | None:
    """Record the end of a training, its last progress and its version; return None, and record nothing, where it is
    superseded.

    Raises ConflictError where the model's versions have another task, target or other inputs; roll back then.
    """
    jobs = JobRepository(tx)
    end = jobs.succeed(job_id, attempt, progress)
    if end is None:
        return None
    made = ModelRepository(tx).add(end.owner, version, job_id=job_id, at=end.at)
    jobs.set_version(job_id, model=made.model, number=made.number)
    return made


def _refuse_another_meaning(model: Model | None, made: TrainingPlan) -> None:
    if model is None:
        return
    faults: list[Fault] = []
    if model.task != made.task:
        faults.append(Fault(f"The model's task is {model.task}, this one's is {made.task}.", pointer="/task"))
    if model.target != made.target and (made.target is not None or model.task == made.task):
        member, known, requested_for = made.target_member, _named(model.target), _named(made.target)
        faults.append(Fault(f"The model's `{member}` is {known}, this one's is {requested_for}.", pointer=f"/{member}"))
    requested = {column.name for column in made.inputs}
    if set(model.inputs) != requested:
        faults.append(Fault(_difference(frozenset(model.inputs), frozenset(requested)), pointer="/inputs"))
    if faults:
        raise ConflictError(
            f"The versions of model {model.name!r} have another task, target or other inputs; "
            "choose another `model` name.",
            faults,
        )


def _named(column: str | None) -> str:
    return "none" if column is None else repr(column)


def _difference(known: frozenset[str], requested: frozenset[str]) -> str:
    parts = [
        f"{what} {', '.join(repr(name) for name in sorted(names)[:5])}{' and others' if len(names) > 5 else ''}"
        for what, names in (("without", known - requested), ("with the additional", requested - known))
        if names
    ]
    return f"The model reads other inputs: this one is {' and '.join(parts)}."
