"""API schemas of batch predictions."""

from pydantic import TypeAdapter

from app.domain.jobs import Job, prediction_of
from app.domain.results import BatchPredicted
from app.jobs.schemas import shared_by_jobs
from relevance_bayes.types import batch_predictions as records

_RECORD = TypeAdapter(records.BatchPrediction)


def batch_prediction_record(job: Job) -> records.BatchPrediction:
    """Return a batch prediction for a response; raises TypeError for a job of another kind."""
    request, plan = prediction_of(job)
    made = job.result if isinstance(job.result, BatchPredicted) else None
    own = {
        "task": plan.task,
        "target": plan.target,
        "format": request.format,
        "columns": plan.columns,
        "on_error": request.on_error,
        "result": None if made is None else records.BatchPredicted(made.rows, made.rows_not_predicted, made.size),
    }
    return _RECORD.validate_python(shared_by_jobs(job) | own)
