"""The models of a service: a list, and each by its name."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar, overload  # noqa: TID251 - scikit-learn is an extra

from relevance_bayes.client.calls import Asynchronous, Awaited, Blocking, Calls, M, call, listing, performed
from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.http import Http, of_kind
from relevance_bayes.client.paths import part, reference, version_path
from relevance_bayes.client.registry import tag_query
from relevance_bayes.records.functions import RelevanceVector, VersionDocument
from relevance_bayes.records.models import Model
from relevance_bayes.records.pages import Page

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
