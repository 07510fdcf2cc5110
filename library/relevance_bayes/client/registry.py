"""Calls on descriptions, lineage, statistics and comparisons of models and versions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relevance_bayes.client.calls import Calls, M, call
from relevance_bayes.client.drivers import Query
from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.http import if_match_header
from relevance_bayes.client.json import Form, JsonInput
from relevance_bayes.client.paths import reference, version_path
from relevance_bayes.client.responses import Json, Version, VersionBase
from relevance_bayes.client.responses.comparisons import Comparison
from relevance_bayes.records.baselines import Baseline
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.lineage import Lineage
from relevance_bayes.records.models import Model
from relevance_bayes.records.profiles import Profile
from relevance_bayes.records.statistics import Statistics

ANY_VERSION: Form[VersionBase] = Form(Version)


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
