"""Predictions for files in any format, as files in any format."""

from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from relevance_bayes.client.bodies import parameters
from relevance_bayes.client.calls import Calls, M, call
from relevance_bayes.client.http import UPLOAD_SECONDS
from relevance_bayes.client.paths import version_path
from relevance_bayes.client.prediction_options import FilePredictionOptions, request_members
from relevance_bayes.records.formats import by_name, media_type_of


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
