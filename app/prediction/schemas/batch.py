"""The API's schemas of batch predictions."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import ConfigDict, Field, GetPydanticSchema, TypeAdapter
from pydantic_core.core_schema import literal_schema

from app.formats import BATCH_FORMATS, DEFAULT, listed
from app.jobs.records import Job
from app.jobs.schemas import shared_by_jobs
from app.prediction.batch_jobs import PREDICTION, RESULT
from app.prediction.requests import PredictionRequest
from app.prediction.results import BatchPredicted
from app.prediction.schemas.predict import PredictionOptions
from relevance_bayes.records import batch_predictions as records
from relevance_bayes.records.jobs import Priority
from relevance_bayes.records.references import VersionSelector

FileFormat = Annotated[
    str, GetPydanticSchema(lambda _source, _handler: literal_schema([one.name for one in BATCH_FORMATS]))
]
"""The name of a format of batch predictions."""


class BatchPredictionIn(PredictionOptions):
    """A request to predict with a version for all rows of a dataset, into a file."""

    dataset_id: UUID = Field(description="A dataset with the version's input columns, of the same kinds.")
    model: str
    version: VersionSelector | None = Field(
        None, description="A number, or an alias, resolved now. By default the newest."
    )
    format: FileFormat = Field(
        DEFAULT.name,
        description=f"Of the file: {listed(BATCH_FORMATS)}; columns as of predict calls.",
    )
    keep: Annotated[list[str], Field(max_length=10_000)] = Field(
        [], description="Columns of the dataset that precede the predictions, in this order."
    )
    on_error: Literal["per_row", "fail"] = Field(
        "per_row",
        description="Whether the error of a row is in a last column `error`, or fails the job.",
    )
    priority: Priority = 0

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "model": "kiosk",
                "version": "champion",
                "dataset_id": "01a20411-6a2e-7c58-9f0b-5b7c1a2d3e4f",
                "format": "parquet",
                "keep": ["day"],
            }
        }
    )

    def to_request(self) -> PredictionRequest:
        """Return the request for the service."""
        return PredictionRequest(
            dataset_id=self.dataset_id,
            model=self.model,
            version=self.version,
            format=self.format,
            interval=self.interval,
            outputs=None if self.outputs is None else tuple(self.outputs),
            keep=tuple(self.keep),
            on_error=self.on_error,
            components=self.components,
            deciding=self.deciding,
            csv_escape_formulas=self.csv_escape_formulas,
            unknown_categories=self.unknown_categories,
            nulls=self.nulls,
            priority=self.priority,
        )


BATCH_PREDICTION_IN: TypeAdapter[BatchPredictionIn] = TypeAdapter(BatchPredictionIn)


def _result(made: BatchPredicted) -> records.BatchPredicted:
    return records.BatchPredicted(made.rows, made.rows_not_predicted, made.size, made.rows_averaged)


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
        "result": None if made is None else _result(made),
    }
    return _RECORD.validate_python(shared_by_jobs(job) | own)
