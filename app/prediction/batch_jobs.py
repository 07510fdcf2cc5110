"""Batch predictions as jobs: their form, plans, responses and resumption."""

from dataclasses import dataclass
from uuid import UUID

from pydantic import TypeAdapter

from app.database.base import Document
from app.database.transaction import Transaction
from app.jobs.forms import JobForm
from app.jobs.records import Job
from app.jobs.schemas import shared_by_jobs
from app.prediction.dataset_rows import VersionPlan
from app.prediction.result_repository import ResultRepository
from relevance_bayes.records.batch_predictions import BatchPredicted, BatchPrediction, BatchPredictionIn
from relevance_bayes.records.jobs import Resumption
from relevance_bayes.records.values import AnyTask

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
