"""Calls on promotions."""

from dataclasses import dataclass

from relevance_bayes.client.calls import M, call
from relevance_bayes.client.job_collection import VersionJobCollection
from relevance_bayes.client.json import Form, exclude_none
from relevance_bayes.client.paths import part
from relevance_bayes.client.responses import Json
from relevance_bayes.types.pages import Page
from relevance_bayes.types.promotions import Promotion

_ONE: Form[Promotion] = Form(Promotion)


@dataclass(frozen=True)
class Promotions(VersionJobCollection[M, Promotion]):
    """Promotions of versions that are better than those to which aliases point."""

    path: str = "/v1/promotions"
    one: Form[Promotion] = _ONE
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
