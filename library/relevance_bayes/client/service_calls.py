"""The calls of the API as methods of both clients, and its collections as properties."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, Unpack, overload

from relevance_bayes.client.calls import Asynchronous, Awaited, Blocking, Calls, M, call, listing, performed
from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.evaluations import BatchPredictions, Evaluations, Promotions
from relevance_bayes.client.gaussian_expansion import GaussianExpansion
from relevance_bayes.client.http import of_kind, part, reference, version_path
from relevance_bayes.client.jobs import ANY_TRAINING, TRAININGS, Jobs, Trainings
from relevance_bayes.client.predictions import Files, JsonOptions, Tables, request_members
from relevance_bayes.client.project import Members, Webhooks
from relevance_bayes.client.registry import (
    ANY_VERSION,
    Aliases,
    ExportFormat,
    Models,
    Outcomes,
    Registry,
    document_of,
    exported_name,
    model_of,
    tag_query,
)
from relevance_bayes.client.responses import (
    ApproximationJob,
    Dataset,
    ImportedVersion,
    Json,
    Predictions,
    SupervisedVersion,
    Version,
    VersionBase,
)
from relevance_bayes.client.uploads import DATASETS, ReadOptions, Uploadable, UploadedDataset, uploaded, uploaded_once
from relevance_bayes.records.datasets import DatasetRow
from relevance_bayes.records.functions import Expansion, RelevanceVector, VersionDocument
from relevance_bayes.records.json import JsonInput, Page, ResponseForm, exclude_none
from relevance_bayes.records.members import Project
from relevance_bayes.records.models import Model


@dataclass(frozen=True)
class Collections(Calls[M]):
    """The collections of a service, as properties."""

    @property
    def aliases(self) -> Aliases[M]:
        """Aliases of versions."""
        return Aliases(self.http)

    @property
    def batch_predictions(self) -> BatchPredictions[M]:
        """Batch predictions."""
        return BatchPredictions(self.http)

    @property
    def evaluations(self) -> Evaluations[M]:
        """Evaluations of versions."""
        return Evaluations(self.http)

    @property
    def files(self) -> Files[M]:
        """Predictions for files."""
        return Files(self.http)

    @property
    def jobs(self) -> Jobs[M]:
        """Jobs of all kinds."""
        return Jobs(self.http)

    @property
    def members(self) -> Members[M]:
        """Members of the project."""
        return Members(self.http)

    @property
    def models(self) -> Models[M]:
        """Models: `models()` lists them, `models["name"]` is one."""
        return Models(self.http)

    @property
    def outcomes(self) -> Outcomes[M]:
        """Outcomes of predictions, and alarms."""
        return Outcomes(self.http)

    @property
    def promotions(self) -> Promotions[M]:
        """Promotions of versions."""
        return Promotions(self.http)

    @property
    def registry(self) -> Registry[M]:
        """Models and versions: descriptions, tags, lineage, comparison."""
        return Registry(self.http)

    @property
    def tables(self) -> Tables[M]:
        """Tables and arrays of other libraries."""
        return Tables(self.http)

    @property
    def trainings(self) -> Trainings[M]:
        """The jobs that train versions."""
        return Trainings(self.http)

    @property
    def webhooks(self) -> Webhooks[M]:
        """Webhooks for the ends of jobs and for alarms."""
        return Webhooks(self.http)


V = TypeVar("V", bound=VersionBase)

_IMPORTED: ResponseForm[ImportedVersion] = ResponseForm(ImportedVersion)


@dataclass(frozen=True)
class ServiceCalls(Collections[M]):
    """The calls of both clients; every method raises ClientError when the service refuses or does not respond."""

    @listing
    def projects(self) -> AsyncGenerator[Project, None]:
        """Yield the projects in which the API key may act, by name."""
        return self.http.pages(Page[Project], "/v1/projects")

    # Datasets

    @call
    async def upload(
        self, data: Uploadable, /, *, name: str | None = None, key: str | None = None, **options: Unpack[ReadOptions]
    ) -> Dataset:
        """Upload a file by its path, its content as bytes, or a table of pandas, polars or pyarrow, without an index.

        The format of a file follows from its suffix, `.csv.gz` is compressed; that of bytes from their beginning, or it
        is the `format` of that name, by default CSV. A file's dataset has its name by default, others `dataset`.

        `delimiter`, `decimal`, `thousands`, `date_format`, `missing_values`, `encoding`, `skip_rows`, `header`,
        `sheet` and `kinds` are the parameters of `POST /v1/datasets`.

        Requests that create something have an idempotency key and are retried after a lost connection. With a `key` of
        your own the call is idempotent too: repeated with it, it returns the first response.
        """
        return await uploaded(self.http, data, name, key=key, **options)

    @call
    async def upload_once(
        self, data: Uploadable, /, *, name: str | None = None, **options: Unpack[ReadOptions]
    ) -> UploadedDataset:
        """Upload as `upload` does; where there is a dataset of this name with the same columns and rows, use that.

        Of two uploads at the same time, each may make one.
        """
        return await uploaded_once(self.http, data, name, **options)

    @call
    async def create_dataset(
        self, columns: Mapping[str, Sequence[Json]], *, name: str, key: str | None = None
    ) -> Dataset:
        """Create a dataset from a small table by columns; `key` as in `upload`."""
        return await self._create_dataset(columns, name, key)

    @call
    async def dataset(self, dataset_id: str) -> Dataset:
        """Return a dataset."""
        return await self.http.get(Dataset, f"{DATASETS}/{part(dataset_id)}")

    @listing
    def datasets(self, *, name: str | None = None) -> AsyncGenerator[Dataset, None]:
        """Yield all datasets, or those of this name, newest first."""
        return self.http.pages(Page[Dataset], DATASETS, {"name": name})

    @listing
    def rows(self, dataset_id: str, *, sample: int | None = None) -> AsyncGenerator[DatasetRow, None]:
        """Yield the rows of a dataset, or a `sample` of so many, evenly spaced."""
        return self.http.pages(Page[DatasetRow], f"{DATASETS}/{part(dataset_id)}/rows", {"sample": sample})

    @call
    async def delete_dataset(self, dataset_id: str) -> None:
        """Delete a dataset that no unfinished job needs."""
        await self.http.delete(f"{DATASETS}/{part(dataset_id)}")

    @call
    async def dataset_image(self, dataset_id: str, *, media_type: str = "application/x-npy") -> bytes:
        """Return the image that a dataset was uploaded as: an exact npy file, or `image/png`."""
        return await self.http.fetch(f"{DATASETS}/{part(dataset_id)}/image", media_type=media_type)

    # Training

    @call
    async def approximate(
        self,
        expansion: GaussianExpansion,
        *,
        model: str,
        tolerance: float | None = None,
        max_functions: int | None = None,
        density: bool = False,
    ) -> ApproximationJob:
        """Approximate an expansion by few terms: its terms become the dataset `model`."""
        terms = await self._create_dataset(expansion.columns, model, None)
        given = exclude_none({"tolerance": tolerance, "max_functions": max_functions, "density": density})
        requested = {"dataset_id": terms.id, "model": model, **expansion.requested, **given}
        job = await self.http.create(ANY_TRAINING, TRAININGS, requested)
        return of_kind(ApproximationJob, job)

    # Models

    @call
    async def model(self, name: str) -> Model:
        """Return a model."""
        return await model_of(self.http, name)

    @listing
    def versions(self, name: str, *, tags: Mapping[str, str] | None = None) -> AsyncGenerator[Version, None]:
        """Yield all versions of a model, or those with these tags, newest first."""
        return self.http.pages(Page[Version], f"/v1/models/{part(name)}/versions", tag_query(tags))

    @overload
    def version(self: "ServiceCalls[Blocking]", name: str, version: int | str | None = None) -> SupervisedVersion: ...
    @overload
    def version(self: "ServiceCalls[Blocking]", name: str, version: int | str | None = None, *, of: type[V]) -> V: ...
    @overload
    def version(
        self: "ServiceCalls[Asynchronous]", name: str, version: int | str | None = None
    ) -> Awaited[SupervisedVersion]: ...
    @overload
    def version(
        self: "ServiceCalls[Asynchronous]", name: str, version: int | str | None = None, *, of: type[V]
    ) -> Awaited[V]: ...
    def version(
        self, name: str, version: int | str | None = None, *, of: type[VersionBase] = SupervisedVersion
    ) -> VersionBase | Awaited[VersionBase]:
        """Return a version by its number or an alias, of `model` or `model@alias`; by default the newest.

        Versions of numbers and classes are expected; `of` is another class, or `VersionBase` for any.
        """
        return performed(self.http, self._version(name, version, of))

    @listing
    def relevance_vectors(
        self, name: str, version: int | str, *, sort: Literal["number", "weight"] = "number"
    ) -> AsyncGenerator[RelevanceVector, None]:
        """Yield the functions of a version, by number or by magnitude of weight."""
        path = f"{version_path(name, version)}/relevance-vectors"
        return self.http.pages(Page[RelevanceVector], path, {"sort": sort})

    @call
    async def expansion(self, name: str, version: int | str) -> GaussianExpansion:
        """Return a version as a sum of Gaussians of one width; raises ClientError for another version."""
        return GaussianExpansion.of_response(await self.http.get(Expansion, f"{version_path(name, version)}/expansion"))

    @call
    async def image(self, name: str, version: int | str, *, media_type: str = "application/x-npy") -> bytes:
        """Return the image of a code: an exact npy file, or `image/png`."""
        return await self.http.fetch(f"{version_path(name, version)}/image", media_type=media_type)

    @call
    async def export(self, name: str, version: int | str, form: ExportFormat = "json") -> bytes:
        """Return a version as a file: a document, or a program that predicts."""
        return await self.http.fetch(f"{version_path(name, version)}/export", media_type="*/*", query={"format": form})

    @call
    async def report(self, name: str, version: int | str) -> bytes:
        """Return the report of a version, an HTML file that needs no service."""
        return await self.http.fetch(f"{version_path(name, version)}/report", media_type="text/html")

    @call
    async def import_version(self, file: Path, *, model: str | None = None, key: str | None = None) -> ImportedVersion:
        """Import an exported .json or .npz as the next version of `model`, by default of its original name.

        Raises OSError; `key` as in `upload`.
        """
        name = exported_name(file) if model is None else model
        media_type = "application/x-npz" if file.suffix.lower() == ".npz" else "application/json"
        path = f"/v1/models/{part(name)}/versions"
        return await self.http.upload(_IMPORTED, path, file, media_type=media_type, key=key)

    @call
    async def import_document(self, content: bytes, *, model: str, key: str | None = None) -> ImportedVersion:
        """Import the bytes of an npz document as the next version of `model`; `key` as in `upload`."""
        path = f"/v1/models/{part(model)}/versions"
        return await self.http.upload(_IMPORTED, path, content, media_type="application/x-npz", key=key)

    @call
    async def version_document(self, name: str, version: int | str | None = None) -> VersionDocument:
        """Return a version, given as in `version`, as an npz document, with its functions."""
        return await document_of(self.http, name, version)

    @call
    async def delete_model(self, name: str) -> None:
        """Delete a model and all its versions."""
        await self.http.delete(f"/v1/models/{part(name)}")

    @call
    async def delete_version(self, name: str, number: int) -> None:
        """Delete a version to which no alias points; its number is never reused."""
        await self.http.delete(version_path(name, number))

    @call
    async def predict(
        self,
        name: str,
        table: Mapping[str, JsonInput],
        *,
        version: int | str | None = None,
        **options: Unpack[JsonOptions],
    ) -> Predictions:
        """Predict for a `table` in one of the API's three forms; by default with the newest version.

        A model that records predictions does so by `row_ids`: one for each row, or the name of the column with them.

        Decisions between classes follow from `class_priors`, `costs[truth][decision]` or `reject_cost`; `components` is
        the maximum number of components in a prediction. Rows with a category that no training row had are predicted as
        averages over the known ones, and listed, or with "error" refused: `unknown_categories`; `nulls` is the same for
        missing values. With `on_error` "per_row" an invalid row has an `error` in the place of its prediction.
        """
        body = {**table, **request_members(options)}
        return await self.http.post(Predictions, f"{version_path(name, version)}/predict", body)

    async def _create_dataset(self, columns: Mapping[str, Sequence[Json]], name: str, key: str | None) -> Dataset:
        return await self.http.create(Dataset, f"{DATASETS}?name={part(name)}", {"columns": columns}, key=key)

    async def _version(self, name: str, version: int | str | None, kind: type[V]) -> V:
        model, selector = reference(name, version)
        if selector is None:
            selector = (await model_of(self.http, model)).latest
        if selector is None:
            raise ClientError(Problem(title="No version", detail=f"The model {model} has no version.", status=404))
        found = await self.http.get(ANY_VERSION, f"/v1/models/{part(model)}/versions/{part(str(selector))}")
        return of_kind(kind, found)
