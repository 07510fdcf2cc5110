"""Calls on evaluations, promotions and batch predictions, jobs that apply versions to datasets."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Unpack

from relevance_bayes.client.calls import M, call, listing
from relevance_bayes.client.errors import CONNECTION_LOST, NOT_REACHABLE, ClientError
from relevance_bayes.client.http import TIMEOUT, part, reference, version_path
from relevance_bayes.client.jobs import VersionJobCollection, job_at
from relevance_bayes.client.predictions import BatchOptions, request_members
from relevance_bayes.client.responses import Json
from relevance_bayes.records.batch_predictions import BatchPrediction
from relevance_bayes.records.evaluations import Evaluation, Promotion
from relevance_bayes.records.json import Page, ResponseForm, exclude_none

_EVALUATION: ResponseForm[Evaluation] = ResponseForm(Evaluation)


@dataclass(frozen=True)
class Evaluations(VersionJobCollection[M, Evaluation]):
    """Evaluations of versions on datasets."""

    path: str = "/v1/evaluations"
    one: ResponseForm[Evaluation] = _EVALUATION
    many: type[Page[Evaluation]] = Page[Evaluation]

    @call
    async def submit(
        self, name: str, dataset_id: str, *, version: int | str | None = None, priority: int = 0, key: str | None = None
    ) -> Evaluation:
        """Evaluate a version by number or alias, of `model` or `model@alias`; by default the newest.

        `key` as in `Client.upload`.
        """
        model, selector = reference(name, version)
        requested = {"model": model, "version": selector, "dataset_id": dataset_id, "priority": priority}
        return await self.http.create(self.one, self.path, exclude_none(requested), key=key)

    @listing
    def of(self, name: str, version: int | str) -> AsyncGenerator[Evaluation, None]:
        """Return all of one version, newest first, without diagnostics."""
        return self.http.pages(self.many, f"{version_path(name, version)}/evaluations")


_PROMOTION: ResponseForm[Promotion] = ResponseForm(Promotion)


@dataclass(frozen=True)
class Promotions(VersionJobCollection[M, Promotion]):
    """Promotions of versions that are better than those to which aliases point."""

    path: str = "/v1/promotions"
    one: ResponseForm[Promotion] = _PROMOTION
    many: type[Page[Promotion]] = Page[Promotion]

    @call
    async def submit(
        self,
        model: str,
        alias: str,
        version: int | str,
        dataset_id: str,
        *,
        metric: str | None = None,
        margin: float | None = None,
        criterion: str | None = None,
        groups: str | None = None,
        key: str | None = None,
    ) -> Promotion:
        """Move an alias to a version if that is better on a dataset; `key` as in `Client.upload`.

        `groups` is the column of groups of dependent rows.
        """
        requested: dict[str, Json] = {
            "version": version,
            "dataset_id": dataset_id,
            "metric": metric,
            "margin": margin,
            "criterion": criterion,
            "groups": groups,
        }
        path = f"/v1/models/{part(model)}/aliases/{part(alias)}/promotions"
        return await self.http.create(self.one, path, exclude_none(requested), key=key)


_ONE: ResponseForm[BatchPrediction] = ResponseForm(BatchPrediction)


@dataclass(frozen=True)
class BatchPredictions(VersionJobCollection[M, BatchPrediction]):
    """Batch predictions: files of predictions for datasets."""

    path: str = "/v1/batch-predictions"
    one: ResponseForm[BatchPrediction] = _ONE
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
