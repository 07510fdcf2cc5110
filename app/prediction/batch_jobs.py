"""Batch predictions as jobs: their requests, plans and results as JSON."""

from datetime import datetime
from uuid import UUID

from pydantic import TypeAdapter

from app.database.json_documents import Document
from app.database.transaction import Transaction
from app.jobs.records import Job, queued, wrong_kind
from app.prediction.requests import PredictionPlan, PredictionRequest
from app.prediction.result_repository import ResultRepository
from app.prediction.results import BatchPredicted
from relevance_bayes.types.jobs import Resumption

REQUEST = Document(TypeAdapter(PredictionRequest))
PLAN = Document(TypeAdapter(PredictionPlan))
RESULT = Document(TypeAdapter(BatchPredicted))


def queued_prediction(
    owner: str,
    request: PredictionRequest,
    plan: PredictionPlan,
    *,
    at: datetime,
    priority: int = 0,
    retry_of: UUID | None = None,
) -> Job:
    """A new batch prediction."""
    return queued(
        owner,
        "prediction",
        dataset_id=request.dataset_id,
        for_model=plan.model,
        request=REQUEST.write(request),
        plan=PLAN.write(plan),
        at=at,
        scored=(plan.version,),
        priority=priority,
        retry_of=retry_of,
    )


def prediction_of(job: Job) -> tuple[PredictionRequest, PredictionPlan]:
    """The request and the plan of a batch prediction; raises TypeError for a job of another kind."""
    if job.kind != "prediction":
        raise wrong_kind(job, "a batch prediction")
    return REQUEST.read(job.request), PLAN.read(job.plan)


def result_of(job: Job) -> BatchPredicted | None:
    """The result of a batch prediction; None where it has not succeeded."""
    return None if job.result is None else RESULT.read(job.result)


def resumption_of_result(tx: Transaction, job_id: UUID, by: str | None) -> Resumption | None:
    """The start whose rows a batch prediction goes on from, where the same program wrote some."""
    result = ResultRepository(tx).find(job_id)
    return result.resumption if result is not None and result.by == by and result.reached.rows > 0 else None
