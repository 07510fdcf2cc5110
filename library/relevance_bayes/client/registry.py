"""Calls on models: versions, aliases, annotations, lineage, comparisons, outcomes; the files of exported versions."""

import zipfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, overload  # noqa: TID251 - scikit-learn is an extra

from relevance_bayes.client.calls import Asynchronous, Awaited, Blocking, Calls, M, call, listing, performed
from relevance_bayes.client.drivers import Query
from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.http import Http, if_match_header, of_kind, part, reference, version_path
from relevance_bayes.client.responses import Comparison, Json, Version, VersionBase
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.functions import RelevanceVector, VersionDocument
from relevance_bayes.records.json import JsonInput, Page, ResponseForm
from relevance_bayes.records.models import Alias, AliasMove, Model
from relevance_bayes.records.outcomes import BucketWidth, ModelAlarm, OutcomeBucket, OutcomesReceived
from relevance_bayes.records.predictions import Profile
from relevance_bayes.records.reports import Baseline
from relevance_bayes.records.statistics import Statistics
from relevance_bayes.records.values import Label
from relevance_bayes.records.versions import Lineage

if TYPE_CHECKING:
    from relevance_bayes.estimators import RelevanceClassifier, RelevanceRegressor, SparseKernelPCA

Estimator: TypeAlias = "RelevanceRegressor | RelevanceClassifier | SparseKernelPCA"
"""The estimators, one for each task that has some."""

E = TypeVar("E", bound="RelevanceRegressor | RelevanceClassifier | SparseKernelPCA")

NEEDS_SKLEARN = "Estimators need scikit-learn: install relevance-bayes[sklearn]."


@dataclass(frozen=True)
class ModelHandle(Calls[M]):
    """A model by its `name`, or a version of it as `model@alias`, with the calls on it."""

    name: str

    @call
    async def get(self) -> Model:
        """Return the model."""
        return await model_of(self.http, self.name)

    @overload
    def pull(self: "ModelHandle[Blocking]", version: int | str | None = None) -> Estimator: ...
    @overload
    def pull(self: "ModelHandle[Blocking]", version: int | str | None = None, *, of: type[E]) -> E: ...
    @overload
    def pull(self: "ModelHandle[Asynchronous]", version: int | str | None = None) -> Awaited[Estimator]: ...
    @overload
    def pull(self: "ModelHandle[Asynchronous]", version: int | str | None = None, *, of: type[E]) -> Awaited[E]: ...
    def pull(
        self, version: int | str | None = None, *, of: type[Estimator] | None = None
    ) -> "Estimator | Awaited[Estimator]":
        """Return a version, by default the newest, as a fitted estimator of scikit-learn.

        Its `document_` are the bytes that the service exports. Its class follows from the model's task; `of` is the
        class that is expected. Raises ClientError for a task without an estimator, and without scikit-learn.
        """
        return performed(self.http, self._pulled(version, of))

    async def _pulled(self, version: int | str | None, kind: type[Estimator] | None) -> Estimator:
        document = await document_of(self.http, self.name, version)
        found = await self.http.driver.block(partial(_estimator, document))
        return found if kind is None else of_kind(kind, found)


@dataclass(frozen=True)
class Models(Calls[M]):
    """The models: called, it lists them; `models["name"]` is one."""

    @listing
    def __call__(self, *, tags: Mapping[str, str] | None = None) -> AsyncGenerator[Model, None]:
        """Yield all models, or those with these tags, newest first."""
        return self.http.pages(Page[Model], "/v1/models", tag_query(tags))

    def __getitem__(self, name: str) -> ModelHandle[M]:
        """Return a model with the calls on it, which need not exist yet."""
        return ModelHandle(self.http, name)


async def model_of(http: Http, name: str) -> Model:
    """Return the model of a name, which may be `model@alias`; raises ClientError."""
    return await http.get(Model, f"/v1/models/{part(reference(name).model)}")


async def document_of(http: Http, name: str, version: int | str | None) -> VersionDocument:
    """Return the document of a version, by default of the newest; raises ClientError.

    An alias may move between two requests: all are for the number to which it pointed.
    """
    model, selector = await model_of(http, name), reference(name, version).version
    number = model.latest if selector is None else model.aliases.get(str(selector), selector)
    if not isinstance(number, int):
        detail = f"The model {model.name} has no {'version' if number is None else f'alias {number}'}."
        raise ClientError(Problem(title="Not found", detail=detail, status=404))
    path = version_path(model.name, number)
    content = await http.fetch(f"{path}/export", media_type="*/*", query={"format": "npz"})
    vectors = [one async for one in http.pages(Page[RelevanceVector], f"{path}/relevance-vectors")]
    return VersionDocument(model=model.name, version=number, task=model.task, content=content, vectors=tuple(vectors))


def _estimator(document: VersionDocument) -> Estimator:
    """Return the estimator of a version; raises ClientError."""
    try:
        from relevance_bayes.estimators import ESTIMATORS
    except ImportError as missing:
        raise ClientError(Problem(title="Not installed", detail=NEEDS_SKLEARN)) from missing
    if (kind := ESTIMATORS.get(document.task)) is None:
        detail = f"{document.model} is a model of the task {document.task}, which has no estimator."
        raise ClientError(Problem(title="Another task", detail=detail))
    return kind.from_document(document.content, document.vectors)


ANY_VERSION: ResponseForm[VersionBase] = ResponseForm(Version)


@dataclass(frozen=True)
class AnnotationChange:
    """A change: None leaves a member unchanged; an empty description removes it, and a tag of None is removed."""

    description: str | None = None
    tags: Mapping[str, str | None] | None = None

    def as_patch(self) -> Mapping[str, Json]:
        """Return the change in the API's form."""
        patch: dict[str, Json] = {}
        if self.description is not None:
            patch["description"] = self.description or None
        if self.tags is not None:
            patch["tags"] = dict(self.tags)
        return patch


@dataclass(frozen=True)
class Registry(Calls[M]):
    """Models and versions of an owner; every method raises ClientError as those of `Client` do."""

    @call
    async def annotate(self, model: str, given: AnnotationChange, *, if_match: str | None = None) -> Model:
        """Change the annotations of a model; with `if_match`, only if it still has this `ETag`."""
        return await self.http.patch(
            Model, version_path(model, None), given.as_patch(), headers=if_match_header(if_match)
        )

    @call
    async def annotate_version(
        self, name: str, given: AnnotationChange, *, version: int | str | None = None, if_match: str | None = None
    ) -> VersionBase:
        """Change the annotations of a version, given as `model@alias` or by its `version`."""
        return await self.http.patch(
            ANY_VERSION, _one(name, version), given.as_patch(), headers=if_match_header(if_match)
        )

    @call
    async def lineage(self, name: str, version: int | str | None = None) -> Lineage:
        """Return the lineage of a version, given as in `annotate_version`."""
        return await self.http.get(Lineage, f"{_one(name, version)}/lineage")

    @call
    async def statistics(self, name: str, version: int | str | None = None) -> Statistics:
        """Return usage statistics of a version from the process that responds; given as in `annotate_version`."""
        return await self.http.get(Statistics, f"{_one(name, version)}/statistics")

    @call
    async def baseline(self, name: str, version: int | str | None = None) -> Baseline:
        """Return the histograms of a version's training data, given as in `annotate_version`."""
        return await self.http.get(Baseline, f"{_one(name, version)}/baseline")

    @call
    async def diagnostics(self, name: str, version: int | str | None = None) -> Diagnostics:
        """Return reliability, residuals and the steps of the fit of a version, given as in `annotate_version`."""
        return await self.http.get(Diagnostics, f"{_one(name, version)}/diagnostics")

    @call
    async def compare(
        self, first: str, second: str, table: Mapping[str, JsonInput], *, version: int | str | None = None
    ) -> Comparison:
        """Compare two versions on a table, as of `predict`: each `model@alias`; of a model as second, the newest.

        The first may also be given by its `version`.
        """
        return await self.http.post(Comparison, f"{_one(first, version)}/compare", {**table, "with": second})

    @call
    async def profile(
        self,
        name: str,
        inputs: Sequence[str],
        table: Mapping[str, JsonInput],
        *,
        version: int | str | None = None,
        options: Mapping[str, JsonInput] | None = None,
    ) -> Profile:
        """Return the effect of one input, or of two together, on a version's predictions; given as in
        `annotate_version`. They are averaged over the `table`, such as `{"rows": [...]}` or `{"columns": {...}}`.
        `options` are further members of the request: `points`, `interval`, `individual`.
        """
        body = {"inputs": [*inputs], **table, **(options or {})}
        return await self.http.post(Profile, f"{_one(name, version)}/profile", body)


def tag_query(tags: Mapping[str, str] | None) -> Query:
    """Return the query parameters for these tags."""
    return {"tag": [f"{name}:{value}" for name, value in tags.items()] if tags else None}


def _one(name: str, version: int | str | None) -> str:
    """Return the path of one version."""
    if reference(name, version).version is None:
        raise ClientError(
            Problem(title="Which version?", detail=f"Expected a version of {name}: a number, or an alias.")
        )
    return version_path(name, version)


@dataclass(frozen=True)
class Aliases(Calls[M]):
    """Aliases of the versions of a model; every method raises ClientError as those of `Client` do."""

    @listing
    def all(self, model: str) -> AsyncGenerator[Alias, None]:
        """Return a model's aliases, by name."""
        return self.http.pages(Page[Alias], _path(model))

    @call
    async def get(self, model: str, alias: str) -> Alias:
        """Return an alias."""
        return await self.http.get(Alias, _path(model, alias))

    @call
    async def with_etag(self, model: str, alias: str) -> tuple[Alias, str]:
        """Return an alias with its entity tag, for `if_match`."""
        return await self.http.tagged(Alias, _path(model, alias))

    @call
    async def move(
        self,
        model: str,
        alias: str,
        version: int | str,
        *,
        reason: str | None = None,
        if_match: str | None = None,
        new: bool = False,
    ) -> Alias:
        """Move an alias to a version, given by number or by another alias; create it if absent.

        With `if_match`, only if the alias still has this entity tag; with `new`, only if it does not exist. Otherwise
        raises a ClientError of status 412.
        """
        body: Mapping[str, Json] = {"version": version} | ({} if reason is None else {"reason": reason})
        headers = if_match_header(if_match) | ({"If-None-Match": "*"} if new else {})
        return await self.http.put(Alias, _path(model, alias), body, headers=headers)

    @call
    async def delete(self, model: str, alias: str, *, reason: str | None = None, if_match: str | None = None) -> None:
        """Delete an alias; its history is kept."""
        await self.http.delete(_path(model, alias), {"reason": reason}, headers=if_match_header(if_match))

    @listing
    def history(self, model: str, alias: str) -> AsyncGenerator[AliasMove, None]:
        """Return the moves of an alias, newest first."""
        return self.http.pages(Page[AliasMove], f"{_path(model, alias)}/history")


def _path(model: str, alias: str | None = None) -> str:
    aliases = f"/v1/models/{part(model)}/aliases"
    return aliases if alias is None else f"{aliases}/{part(alias)}"


ExportFormat: TypeAlias = Literal["json", "npz", "onnx", "python"]

MAX_BYTES = 2**26
"""The maximum size of the JSON in an archive."""


@dataclass(frozen=True)
class _Source:
    model: str


@dataclass(frozen=True)
class _Document:
    source: _Source


_DOCUMENT: ResponseForm[_Document] = ResponseForm(_Document)


def exported_name(file: Path) -> str:
    """Return the model's name in an exported version; raises ClientError for other files, OSError."""
    try:
        if file.suffix.lower() == ".npz":
            with zipfile.ZipFile(file) as archive, archive.open("document.json") as member:
                text = member.read(MAX_BYTES)
        else:
            text = file.read_bytes()
        return _DOCUMENT.read(text).source.model
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        detail = f"Expected a .json or .npz file of `relevance export`, got {file.name} ({error})"
        raise ClientError(Problem(title="Not an exported version", detail=detail)) from error


@dataclass(frozen=True)
class Outcomes(Calls[M]):
    """Outcomes of rows that were predicted with row ids; every method raises ClientError as those of `Client` do."""

    @call
    async def record(self, model: str, share: float) -> Model:
        """Let a model record this share of the predictions with row ids, from 0 to 1; 0 records none."""
        return await self.http.patch(Model, version_path(model, None), {"record": share})

    @call
    async def send(self, model: str, outcomes: Mapping[str, Label]) -> OutcomesReceived:
        """Send the outcomes of at most 10,000 rows by their row ids; the same outcome again changes nothing."""
        body = {"row_ids": list(outcomes), "outcomes": list(outcomes.values())}
        return await self.http.post(OutcomesReceived, f"{version_path(model, None)}/outcomes", body)

    @listing
    def over_time(
        self, model: str, *, version: int | None = None, bucket: BucketWidth = "day"
    ) -> AsyncGenerator[OutcomeBucket, None]:
        """Return coverage and log score, of classes accuracy and log score, by the hour or day of the predictions.

        Newest first, by default of all versions.
        """
        query = {"version": version, "bucket": bucket}
        return self.http.pages(Page[OutcomeBucket], f"{version_path(model, None)}/outcomes", query)

    @listing
    def alarms(self, model: str) -> AsyncGenerator[ModelAlarm, None]:
        """Return the alarms of a model's versions, newest first, with those that were cleared."""
        return self.http.pages(Page[ModelAlarm], f"{version_path(model, None)}/alarms")
