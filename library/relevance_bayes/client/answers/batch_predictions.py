"""A version's predictions for a dataset, as a file."""

from typing import Literal

from msgspec import field

from relevance_bayes.client.answers.jobs import JobBase
from relevance_bayes.types.batch_predictions import BatchPredicted


class BatchPrediction(JobBase, frozen=True, kw_only=True, tag=False):
    """A file of a version's predictions for a dataset; `result` once it is there."""

    of_task: str = field(name="task")
    target: str | None
    format: str
    columns: tuple[str, ...]
    on_error: Literal["per_row", "fail"]
    result: BatchPredicted | None

    @property
    def task(self) -> str:
        """Of what the version is."""
        return self.of_task
