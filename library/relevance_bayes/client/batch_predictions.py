"""Calls on batch predictions."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from relevance_bayes.client.calls import M, call
from relevance_bayes.client.errors import CONNECTION_LOST, NOT_REACHABLE, ClientError
from relevance_bayes.client.http import TIMEOUT
from relevance_bayes.client.job_collection import VersionJobCollection
from relevance_bayes.client.job_handle import job_at
from relevance_bayes.client.json import Form, exclude_none, listed_priors
from relevance_bayes.client.paths import reference
from relevance_bayes.client.responses import Json
from relevance_bayes.records.batch_predictions import BatchPrediction
from relevance_bayes.records.pages import Page
from relevance_bayes.records.predictions import Nulls, UnknownCategories
from relevance_bayes.records.values import Label

_ONE: Form[BatchPrediction] = Form(BatchPrediction)


@dataclass(frozen=True)
class BatchPredictions(VersionJobCollection[M, BatchPrediction]):
    """Batch predictions: files of predictions for datasets."""

    path: str = "/v1/batch-predictions"
    one: Form[BatchPrediction] = _ONE
    many: type[Page[BatchPrediction]] = Page[BatchPrediction]

    @call
    async def submit(
        self,
        name: str,
        dataset_id: str,
        *,
        version: int | str | None = None,
        format: str | None = None,  # noqa: A002 - as the API has it
        keep: Sequence[str] = (),
        interval: float | None = None,
        outputs: Sequence[str] | None = None,
        on_error: Literal["per_row", "fail"] | None = None,
        components: int | None = None,
        class_priors: Mapping[Label, float] | None = None,
        costs: Sequence[Sequence[float]] | None = None,
        reject_cost: float | None = None,
        unknown_categories: UnknownCategories | None = None,
        nulls: Nulls | None = None,
        csv_escape_formulas: bool | None = None,
        priority: int = 0,
        key: str | None = None,
    ) -> BatchPrediction:
        """Submit a batch prediction; the version as in `Evaluations.submit`, options as of `Client.predict`.

        `keep` are columns of the dataset that precede the predictions.
        """
        model, selector = reference(name, version)
        requested: dict[str, Json] = {
            "model": model,
            "version": selector,
            "dataset_id": dataset_id,
            "format": format,
            "keep": [*keep],
            "interval": interval,
            "outputs": None if outputs is None else [*outputs],
            "on_error": on_error,
            "components": components,
            "class_priors": listed_priors(class_priors),
            "costs": None if costs is None else [list(row) for row in costs],
            "reject_cost": reject_cost,
            "unknown_categories": unknown_categories,
            "nulls": nulls,
            "csv_escape_formulas": csv_escape_formulas,
            "priority": priority,
        }
        return await self.http.create(self.one, self.path, exclude_none(requested), key=key)

    @call
    async def download(self, job_id: str, file: Path) -> int:
        """Write the predictions to a file, and return its size in bytes; raises OSError.

        After a lost connection, the download resumes with a range request.
        """
        made = (await job_at(self.http, self.one, self._at(job_id), 0)).result
        size, written, block = 0 if made is None else made.size, 0, self.http.driver.block
        out = await block(lambda: file.open("wb"))
        with out:
            while True:
                before = written
                try:
                    async for piece in self._pieces(job_id, written):
                        written += await block(partial(out.write, piece))
                except ClientError as lost:
                    if lost.problem.type not in {CONNECTION_LOST, NOT_REACHABLE} or written == before:
                        raise
                if written >= size:
                    return written

    @call
    async def delete(self, job_id: str) -> None:
        """Delete a batch prediction that has ended, with its file."""
        await self.http.delete(self._at(job_id))

    async def _pieces(self, job_id: str, first: int) -> AsyncGenerator[bytes, None]:
        """Yield the bytes from position `first` on, as they are received."""
        headers = {"Accept": "*/*"} | ({"Range": f"bytes={first}-"} if first else {})
        async with self.http.stream(f"{self._at(job_id)}/result", headers=headers, silence=TIMEOUT) as content:
            if content is not None:
                async for piece in content:
                    yield piece
