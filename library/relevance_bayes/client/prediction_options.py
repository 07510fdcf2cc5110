"""Options of predictions, in JSON, in other formats, and in batch jobs."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from relevance_bayes.client.json import exclude_none
from relevance_bayes.records.formats import RowReadOptions
from relevance_bayes.records.predictions import Nulls, UnknownCategories
from relevance_bayes.records.values import Json, Label


class SharedOptions(TypedDict, total=False):
    """Options of all predictions, as of `Client.predict`; `on_error="per_row"` predicts for all valid rows."""

    interval: float | None
    on_error: Literal["fail", "per_row"] | None
    class_priors: Mapping[Label, float] | None
    costs: Sequence[Sequence[float]] | None
    reject_cost: float | None
    components: int | None
    unknown_categories: UnknownCategories | None
    nulls: Nulls | None


class PredictionOptions(SharedOptions, total=False):
    """Options of predictions in formats other than JSON; `outputs` are the figures to predict."""

    outputs: Sequence[str] | None


class JsonOptions(SharedOptions, total=False):
    """Options of predictions in JSON: functions to explain each by, covariance of all, ids of rows or their column."""

    explain: int | None
    covariance: bool | None
    row_ids: Sequence[str] | str | None


class FilePredictionOptions(PredictionOptions, RowReadOptions, total=False):
    """Options of predictions for files, whose ids of rows are in the column `row_ids`."""

    explain: int | None
    row_ids: str | None
    csv_escape_formulas: bool


class BatchOptions(PredictionOptions, total=False):
    """Options of batch predictions; `keep` are columns of the dataset that precede the predictions."""

    format: str | None
    keep: Sequence[str]
    csv_escape_formulas: bool | None
    priority: int


def request_members(options: SharedOptions) -> dict[str, object]:
    """Return options as members of a request, without those that are None."""
    return exclude_none({**options, "class_priors": listed_priors(options.get("class_priors"))})


def listed_priors(priors: Mapping[Label, float] | None) -> list[Json] | None:
    """Return class priors as the API's list: a JSON object would make all labels strings."""
    return None if priors is None else [{"label": label, "prior": prior} for label, prior in priors.items()]
