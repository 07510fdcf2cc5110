"""Predictions for files in any format, as files in any format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Unpack

from relevance_bayes.client.calls import Calls, M, call
from relevance_bayes.client.http import UPLOAD_SECONDS
from relevance_bayes.client.paths import version_path
from relevance_bayes.client.prediction_options import query_of
from relevance_bayes.client.uploads import row_query
from relevance_bayes.records.formats import RowReadOptions, by_name, media_type_of
from relevance_bayes.records.predictions import Nulls, UnknownCategories
from relevance_bayes.records.values import Label


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
        interval: float | None = None,
        outputs: Sequence[str] | None = None,
        on_error: Literal["fail", "per_row"] | None = None,
        explain: int | None = None,
        class_priors: Mapping[Label, float] | None = None,
        costs: Sequence[Sequence[float]] | None = None,
        reject_cost: float | None = None,
        components: int | None = None,
        unknown_categories: UnknownCategories | None = None,
        nulls: Nulls | None = None,
        row_ids: str | None = None,
        csv_escape_formulas: bool = False,
        **options: Unpack[RowReadOptions],
    ) -> bytes:
        """Predict for the rows of a file, whose format follows from its suffix; return the response, a row for each.

        `response_format` is the name of a format, such as "csv". Options as of `Client.predict`; a JSON file
        contains its options. `delimiter`, `decimal`, `thousands`, `date_format` and `encoding` describe a CSV,
        `missing_values` and `skip_rows` a CSV or a workbook, whose sheet is `sheet`. Raises OSError, LookupError for an
        unknown format.
        """
        query = query_of(
            interval=interval,
            outputs=outputs,
            on_error=on_error,
            class_priors=class_priors,
            costs=costs,
            reject_cost=reject_cost,
            components=components,
            unknown_categories=unknown_categories,
            nulls=nulls,
        )
        escapes = "true" if csv_escape_formulas else None
        query = {**query, "explain": explain, "row_ids": row_ids, "csv_escape_formulas": escapes, **row_query(options)}
        return await self.http.post_bytes(
            f"{version_path(name, version)}/predict",
            file,
            media_type=media_type_of(file),
            response_type=by_name(response_format).media_type,
            query=query,
            deadline=UPLOAD_SECONDS,
        )
