"""Batch predictions as jobs: their form, plans, responses, submission and resumption, and the file they leave."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from uuid import UUID

from pydantic import TypeAdapter

from app.database.base import Document
from app.database.transaction import Clock, OpenTransaction, Transaction
from app.datasets.records import Dataset
from app.datasets.repository import DatasetRepository
from app.errors import ConflictError, GoneError
from app.http.idempotency_records import Keyed
from app.jobs.forms import JobForm
from app.jobs.records import Job
from app.jobs.repository import JobRepository
from app.jobs.schemas import shared_by_jobs
from app.jobs.service import ended
from app.prediction import PredictRequest, ServedVersion, predict, requested_outputs
from app.prediction.dataset_rows import VersionPlan, refuse_unfit
from app.prediction.result_repository import ResultRepository
from app.prediction.served_versions import ServedVersions
from app.registry.submission import enqueue
from relevance_bayes.records.batch_predictions import BatchPredicted, BatchPrediction, BatchPredictionIn
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.jobs import FINISHED, Resumption
from relevance_bayes.records.values import AnyTask
from relevance_bayes.tables.columns import no_rows
from relevance_bayes.tasks.prediction import PredictOptions

BATCH_PREDICTION_IN: TypeAdapter[BatchPredictionIn] = TypeAdapter(BatchPredictionIn)


@dataclass(frozen=True)
class PredictionPlan(VersionPlan):
    """The version of a batch prediction, the members of its predictions, and the columns of the file.

    `target` is None where it predicts no column.
    """

    task: AnyTask
    target: str | None
    outputs: tuple[str, ...]
    columns: tuple[str, ...]


PREDICTION = JobForm(
    "prediction",
    Document(BATCH_PREDICTION_IN),
    Document(TypeAdapter(PredictionPlan)),
    lambda plan: (plan.version,),
)
RESULT = Document(TypeAdapter(BatchPredicted))

_RECORD: TypeAdapter[BatchPrediction] = TypeAdapter(BatchPrediction)


def batch_prediction_record(job: Job) -> BatchPrediction:
    """Return the batch prediction of a job; raises TypeError for a job of another kind."""
    request, plan = PREDICTION.read(job)
    result = RESULT.read_optional(job.result)
    return _RECORD.validate_python({**vars(request), **vars(plan), **shared_by_jobs(job), "result": result})


def resumption_of_result(tx: Transaction, job_id: UUID, by: str | None) -> Resumption | None:
    """Return the attempt whose rows a batch prediction continues, if the same program wrote some."""
    result = ResultRepository(tx).find(job_id)
    return result.resumption if result is not None and result.by == by and result.reached.rows > 0 else None


ERROR = "error"
"""The column with the reason why a row has no prediction."""


@dataclass(frozen=True)
class BatchPredictionService:
    """Batch predictions of an owner."""

    transaction: OpenTransaction
    prediction: ServedVersions
    clock: Clock

    def submit(
        self,
        owner: str,
        request: BatchPredictionIn,
        *,
        retry_of: UUID | None = None,
        keyed: Keyed[Job] | None = None,
    ) -> Job:
        """Resolve, record and queue a job, and keep the answer of a `keyed` request, all or nothing.

        Raises NotFoundError (dataset, version), InvalidRequestError (the dataset does not fit, or what is wanted can't
        be), TooManyJobsError, KeyInUseError.
        """
        with self.transaction() as tx:
            dataset = DatasetRepository(tx).get(owner, request.dataset_id)
        served = self.prediction.version(owner, request.model, request.version)
        made = _plan_of(request, dataset, served)
        job = PREDICTION.queued(owner, request, made, at=self.clock(), retry_of=retry_of)
        with self.transaction() as tx:
            return enqueue(tx, job, keyed=keyed)

    def retry(self, owner: str, job_id: UUID, *, keyed: Keyed[Job] | None = None) -> Job:
        """A new job of the same request; raises ConflictError while the job has not ended, and what `submit` does."""
        with self.transaction() as tx:
            job = ended(tx, owner, job_id, "prediction")
        request, _ = PREDICTION.read(job)
        return self.submit(owner, request, retry_of=job.id, keyed=keyed)

    def size(self, owner: str, job_id: UUID) -> tuple[Job, int]:
        """The job whose file it is, and how many bytes that has.

        Raises NotFoundError, ConflictError where the job has not made a file, GoneError where it was removed.
        """
        with self.transaction() as tx:
            job, kept = JobRepository(tx).get(owner, job_id, kind="prediction"), ResultRepository(tx).find(job_id)
        if job.state not in FINISHED:
            raise ConflictError(f"There is no result yet: the job is {job.state}.")
        if job.state != "succeeded":
            raise ConflictError(f"There is no result: the job {job.state}.")
        if kept is None or not kept.reached.whole:
            raise _gone(job_id)
        return job, kept.reached.size

    def content(self, job_id: UUID, first: int, last: int) -> Iterator[bytes]:
        """The bytes of a result from `first` to `last`, both included, a piece after the other.

        Each is read in a transaction of its own, which ends before it is sent. Raises GoneError where the result is
        removed meanwhile.
        """
        while first <= last:
            with self.transaction() as tx:
                piece = ResultRepository(tx).piece(job_id, "file", first)
            if piece is None:
                raise _gone(job_id)
            yield piece.content[first - piece.first : last + 1 - piece.first]
            first = piece.first + len(piece.content)

    def remove(self, owner: str, job_id: UUID) -> None:
        """A job that has ended, with its file; raises NotFoundError, ConflictError while it has not."""
        with self.transaction() as tx:
            job = ended(tx, owner, job_id, "prediction")
        more = True
        while more:  # in pieces, so that no transaction is long
            with self.transaction() as tx:
                more = ResultRepository(tx).forget(job.id)
        with self.transaction() as tx:
            JobRepository(tx).remove(owner, job.id)


def options_by(request: BatchPredictionIn) -> PredictOptions:
    """The options of its predictions."""
    options = PredictOptions(request.interval, deciding=request.deciding, components=request.components)
    return replace(options, unknown_categories=request.unknown_categories, nulls=request.nulls)


def _plan_of(request: BatchPredictionIn, dataset: Dataset, served: ServedVersion) -> PredictionPlan:
    """The request resolved; raises InvalidRequestError."""
    noise = served.model.noise_column
    refuse_unfit(dict(served.columns), dataset, optional={} if noise is None else {noise: "number"})
    outputs = requested_outputs(served.version, request.outputs)
    of_no_rows = predict(served, PredictRequest(no_rows(served.columns), options_by(request)))
    predicted = [*of_no_rows.columns(outputs), *([ERROR] if request.on_error == "per_row" else [])]
    _refuse_keeping(request.keep, dataset, predicted)
    version = served.version
    return PredictionPlan(
        model=version.model,
        version=version.number,
        task=version.report.task,
        target=version.report.plan.target,
        outputs=outputs,
        columns=(*request.keep, *predicted),
    )


def _refuse_keeping(names: tuple[str, ...], dataset: Dataset, predicted: list[str]) -> None:
    faults = []
    for place, name in enumerate(names):
        if name in names[:place]:
            faults.append(Fault(f"{name!r} is kept already.", f"/keep/{place}"))
        elif dataset.column(name) is None:
            faults.append(Fault(f"The dataset has no column {name!r}.", f"/keep/{place}"))
        elif name in predicted:
            faults.append(Fault(f"Predictions have a column {name!r} themselves.", f"/keep/{place}"))
    if faults:
        raise InvalidRequestError(faults[0].detail, faults)


def _gone(job_id: UUID) -> GoneError:
    return GoneError(f"The result of {job_id} was removed for its age: let it be made again.")
