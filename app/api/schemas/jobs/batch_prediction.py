"""Batch predictions as their owner sees them."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from app.api.schemas.file_format import FileFormat
from app.api.schemas.jobs.shared import JobOut, shared_by_jobs
from app.domain.jobs import Job, prediction_of
from app.domain.requests import AnyTask
from app.domain.results import BatchPredicted
from relevance_bayes.types import batch_predictions as records


class BatchPredictionOut(JobOut):
    """A version's predictions for a dataset."""

    task: AnyTask
    target: str | None
    format: FileFormat
    columns: Sequence[str] = Field(description="Of the file, in their order.")
    on_error: Literal["per_row", "fail"]
    result: records.BatchPredicted | None


def batch_prediction_out(job: Job) -> BatchPredictionOut:
    """A batch prediction as it goes out; raises TypeError for a job of another kind."""
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
    return BatchPredictionOut.model_validate(shared_by_jobs(job) | own)
