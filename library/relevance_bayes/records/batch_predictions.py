"""Batch predictions: a version's predictions for a dataset, as a file."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, get_args

from relevance_bayes.records.annotations import Stated, wire
from relevance_bayes.records.formats import FILE_FORMATS
from relevance_bayes.records.jobs import JobBase
from relevance_bayes.records.values import AnyTask

OnError: TypeAlias = Literal["per_row", "fail"]


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
    format: Annotated[str, Stated(enum=[one.name for one in FILE_FORMATS if one.for_batches])]
    columns: tuple[str, ...]
    """The columns of the file, in order."""
    on_error: OnError
    result: BatchPredicted | None
    """Null until the file is complete."""
