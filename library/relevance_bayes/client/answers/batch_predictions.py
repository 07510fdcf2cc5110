"""A version's predictions for a dataset, as a file."""

from dataclasses import dataclass
from typing import Literal

from relevance_bayes.client.answers.jobs import JobBase
from relevance_bayes.types.batch_predictions import BatchPredicted


@dataclass(frozen=True, kw_only=True)
class BatchPrediction(JobBase):
    """A file of a version's predictions for a dataset; `result` once it is there."""

    task: str
    """Of what the version is."""
    target: str | None
    format: str
    columns: tuple[str, ...]
    on_error: Literal["per_row", "fail"]
    result: BatchPredicted | None
