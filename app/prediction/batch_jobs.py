"""Batch predictions as jobs: their form, results and resumption."""

from uuid import UUID

from pydantic import TypeAdapter

from app.database.json_documents import Document
from app.database.transaction import Transaction
from app.jobs.forms import JobForm
from app.prediction.requests import PredictionPlan, PredictionRequest
from app.prediction.result_repository import ResultRepository
from app.prediction.results import BatchPredicted
from relevance_bayes.records.jobs import Resumption

PREDICTION = JobForm(
    "prediction",
    Document(TypeAdapter(PredictionRequest)),
    Document(TypeAdapter(PredictionPlan)),
    lambda plan: (plan.version,),
)
RESULT = Document(TypeAdapter(BatchPredicted))


def resumption_of_result(tx: Transaction, job_id: UUID, by: str | None) -> Resumption | None:
    """Return the attempt whose rows a batch prediction continues, if the same program wrote some."""
    result = ResultRepository(tx).find(job_id)
    return result.resumption if result is not None and result.by == by and result.reached.rows > 0 else None
