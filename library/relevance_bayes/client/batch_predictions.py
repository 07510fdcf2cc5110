"""Calls on batch predictions."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Unpack

from relevance_bayes.client.calls import M, call
from relevance_bayes.client.errors import CONNECTION_LOST, NOT_REACHABLE, ClientError
from relevance_bayes.client.http import TIMEOUT
from relevance_bayes.client.job_collection import VersionJobCollection
from relevance_bayes.client.job_handle import job_at
from relevance_bayes.client.json import Form
from relevance_bayes.client.paths import reference
from relevance_bayes.client.prediction_options import BatchOptions, request_members
from relevance_bayes.records.batch_predictions import BatchPrediction
from relevance_bayes.records.pages import Page

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
        key: str | None = None,
        **options: Unpack[BatchOptions],
    ) -> BatchPrediction:
        """Submit a batch prediction; the version as in `Evaluations.submit`, options as of `Client.predict`.

        `keep` are columns of the dataset that precede the predictions.
        """
        model, selector = reference(name, version)
        version_of_model = {"model": model} if selector is None else {"model": model, "version": selector}
        requested = {**version_of_model, "dataset_id": dataset_id, **request_members(options)}
        return await self.http.create(self.one, self.path, requested, key=key)

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
