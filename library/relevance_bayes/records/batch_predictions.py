"""Batch predictions: a version's predictions for a dataset, as a file, and the requests for them."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, get_args
from uuid import UUID

from pydantic import Field, GetPydanticSchema
from pydantic_core.core_schema import literal_schema

from relevance_bayes.records.annotations import Stated, wire
from relevance_bayes.records.formats import CSV, FILE_FORMATS
from relevance_bayes.records.jobs import JobBase, Priority
from relevance_bayes.records.models import VersionSelector
from relevance_bayes.records.predictions import PredictionOptions
from relevance_bayes.records.values import AnyTask

OnError: TypeAlias = Literal["per_row", "fail"]

FORMATS = tuple(one.name for one in FILE_FORMATS if one.for_batches)
"""The names of the formats of batch predictions."""


@dataclass(frozen=True, kw_only=True)
class BatchPredictionIn(PredictionOptions):
    """A request to predict with a version for all rows of a dataset, into a file."""

    __pydantic_config__ = wire(
        extra="forbid",
        example={
            "model": "kiosk",
            "version": "champion",
            "dataset_id": "01a20411-6a2e-7c58-9f0b-5b7c1a2d3e4f",
            "format": "parquet",
            "keep": ["day"],
        },
    )

    dataset_id: UUID
    """A dataset with the version's input columns, of the same kinds."""
    model: str
    version: VersionSelector | None = None
    """A number, or an alias, resolved now. By default the newest."""
    format: Annotated[str, GetPydanticSchema(lambda _source, _handler: literal_schema([*FORMATS]))] = CSV.name
    """The format of the file; columns as of predict calls."""
    keep: Annotated[tuple[str, ...], Field(max_length=10_000)] = ()
    """Columns of the dataset that precede the predictions, in this order."""
    on_error: OnError = "per_row"
    """The treatment of an invalid row: its error is in a last column `error`, or fails the job."""
    priority: Priority = 0


@dataclass(frozen=True)
class BatchPredicted:
    """The result: a file, stored at `/result` below the job for a limited time."""

    __pydantic_config__ = wire()

    rows: int
    rows_not_predicted: int
    """Rows with an `error` instead of a prediction."""
    size: int
    """The size of the file in bytes."""
    rows_averaged: int = 0
    """Rows with a missing value, or a category that no training row had, predicted as averages over known values."""


@dataclass(frozen=True, kw_only=True)
class BatchPrediction(JobBase):
    """A version's predictions for a dataset."""

    task: Annotated[str, Stated(enum=get_args(AnyTask))]
    """The version's task."""
    target: str | None
    format: Annotated[str, Stated(enum=[*FORMATS])]
    columns: tuple[str, ...]
    """The columns of the file, in order."""
    on_error: OnError
    result: BatchPredicted | None
    """Null until the file is complete."""
