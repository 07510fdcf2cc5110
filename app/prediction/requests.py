"""The request for a batch prediction, and its plan."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from relevance_bayes.records.jobs import JobRequest
from relevance_bayes.records.predictions import Nulls, UnknownCategories
from relevance_bayes.records.references import Selector
from relevance_bayes.records.values import AnyTask
from relevance_bayes.tasks.decisions import DecisionOptions


@dataclass(frozen=True)
class PredictionRequest(JobRequest):
    """Predictions for all rows of a dataset as a file; without a `version` the newest is meant.

    `format` is the name of a format of files. `interval`, `outputs`, `components`, `deciding`, `unknown_categories`
    and `nulls` are as in predict calls. The columns of the dataset named in `keep` precede the predictions. A row that
    can't be predicted for has the reason in a column `error`, or with `fail` ends the job. `csv_escape_formulas`: in
    CSV no text is a formula for a spreadsheet.
    """

    dataset_id: UUID
    model: str
    version: Selector = None
    format: str = "csv"
    interval: float = 0.95
    outputs: tuple[str, ...] | None = None
    keep: tuple[str, ...] = ()
    on_error: Literal["per_row", "fail"] = "per_row"
    components: int | None = None
    deciding: DecisionOptions | None = None
    csv_escape_formulas: bool = False
    unknown_categories: UnknownCategories = "average"
    nulls: Nulls = "average"
    kind: Literal["prediction"] = "prediction"


@dataclass(frozen=True)
class PredictionPlan:
    """The request resolved to the number of a version: of what it is, which members its predictions have, and the
    file's columns. `target` is None where it predicts no column."""

    model: str
    version: int
    task: AnyTask
    target: str | None
    outputs: tuple[str, ...]
    columns: tuple[str, ...]
    kind: Literal["prediction"] = "prediction"
