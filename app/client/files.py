"""Predictions for files as they are, told in the format that is asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from app.client.http import Http
from app.client.paths import version_path
from app.domain.tables import Label

AnswerFormat = Literal["json", "ndjson", "csv", "arrow", "parquet", "npy"]

MEDIA_TYPES = {
    ".csv": "text/csv",
    ".tsv": "text/csv",
    ".txt": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
    ".ndjson": "application/x-ndjson",
    ".jsonl": "application/x-ndjson",
    ".arrow": "application/vnd.apache.arrow.stream",
    ".arrows": "application/vnd.apache.arrow.stream",
    ".png": "image/png",
    ".npy": "application/x-npy",
}
"""What a file's name says about its content."""

ANSWER_TYPES: Mapping[AnswerFormat, str] = {
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "csv": "text/csv",
    "arrow": "application/vnd.apache.arrow.stream",
    "parquet": "application/vnd.apache.parquet",
    "npy": "application/x-npy",
}


@dataclass(frozen=True)
class Files:
    """Files of rows in any of the service's formats; every method raises ClientError as those of `Relevance` do."""

    http: Http

    def predict(
        self,
        name: str,
        file: Path,
        answer: AnswerFormat,
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
        csv_escape_formulas: bool = False,
    ) -> bytes:
        """Predict for the rows of a file, told apart by its name's ending: the bytes of the answer, a row for each.

        Options as of `Relevance.predict`; a file of JSON has them in itself. Raises OSError.
        """
        priors = None if class_priors is None else [{"label": one, "prior": p} for one, p in class_priors.items()]
        query: dict[str, str | int | float | list[str] | None] = {
            "interval": interval,
            "outputs": None if outputs is None else [*outputs],
            "on_error": on_error,
            "explain": explain,
            "class_priors": None if priors is None else msgspec.json.encode(priors).decode(),
            "costs": None if costs is None else msgspec.json.encode(costs).decode(),
            "reject_cost": reject_cost,
            "components": components,
            "csv_escape_formulas": "true" if csv_escape_formulas else None,
        }
        return self.http.exchange(
            f"{version_path(name, version)}/predict",
            file.read_bytes(),
            media_type=MEDIA_TYPES.get(file.suffix.lower(), "text/csv"),
            answer_type=ANSWER_TYPES[answer],
            query=query,
        )
