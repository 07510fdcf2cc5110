"""API schemas of batch predictions."""

from pydantic import TypeAdapter

from app.jobs.records import Job
from app.jobs.schemas import shared_by_jobs
from app.prediction.batch_jobs import PREDICTION, RESULT
from relevance_bayes.types import batch_predictions as records

_RECORD = TypeAdapter(records.BatchPrediction)


def batch_prediction_record(job: Job) -> records.BatchPrediction:
    """Return a batch prediction for a response; raises TypeError for a job of another kind."""
    request, plan = PREDICTION.read(job)
    made = RESULT.read_optional(job.result)
    own = {
        "task": plan.task,
        "target": plan.target,
        "format": request.format,
        "columns": plan.columns,
        "on_error": request.on_error,
        "result": None if made is None else records.BatchPredicted(made.rows, made.rows_not_predicted, made.size),
    }
    return _RECORD.validate_python(shared_by_jobs(job) | own)
