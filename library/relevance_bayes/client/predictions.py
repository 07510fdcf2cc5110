"""Options of predictions, and predictions for files in any format, as files in any format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from relevance_bayes.client.calls import Calls, M, call
from relevance_bayes.client.http import UPLOAD_SECONDS, parameters, version_path
from relevance_bayes.records.formats import RowReadOptions, by_name, media_type_of
from relevance_bayes.records.json import exclude_none
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


@dataclass(frozen=True)
class Files(Calls[M]):
    """Predictions for files in the service's formats; every method raises ClientError as those of `Client` do."""

    @call
    async def predict(
        self,
        name: str,
        file: Path,
        response_format: str,
        *,
        version: int | str | None = None,
        **options: Unpack[FilePredictionOptions],
    ) -> bytes:
        """Predict for the rows of a file, whose format follows from its suffix; return the response, a row for each.

        `response_format` is the name of a format, such as "csv". Options as of `Client.predict`; a JSON file
        contains its options. `delimiter`, `decimal`, `thousands`, `date_format` and `encoding` describe a CSV,
        `missing_values` and `skip_rows` a CSV or a workbook, whose sheet is `sheet`. Raises OSError, LookupError for an
        unknown format.
        """
        return await self.http.post_bytes(
            f"{version_path(name, version)}/predict",
            file,
            media_type=media_type_of(file),
            response_type=by_name(response_format).media_type,
            query=parameters(request_members(options)),
            deadline=UPLOAD_SECONDS,
        )
