"""Calls on evaluations and promotions."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from relevance_bayes.client.calls import M, call, listing
from relevance_bayes.client.job_collection import VersionJobCollection
from relevance_bayes.client.json import Form, exclude_none
from relevance_bayes.client.paths import part, reference, version_path
from relevance_bayes.client.responses import Json
from relevance_bayes.records.evaluations import Evaluation
from relevance_bayes.records.pages import Page
from relevance_bayes.records.promotions import Promotion

_EVALUATION: Form[Evaluation] = Form(Evaluation)


@dataclass(frozen=True)
class Evaluations(VersionJobCollection[M, Evaluation]):
    """Evaluations of versions on datasets."""

    path: str = "/v1/evaluations"
    one: Form[Evaluation] = _EVALUATION
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


_PROMOTION: Form[Promotion] = Form(Promotion)


@dataclass(frozen=True)
class Promotions(VersionJobCollection[M, Promotion]):
    """Promotions of versions that are better than those to which aliases point."""

    path: str = "/v1/promotions"
    one: Form[Promotion] = _PROMOTION
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
