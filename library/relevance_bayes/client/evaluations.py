"""Calls on evaluations."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from relevance_bayes.client.calls import M, call, listing
from relevance_bayes.client.job_collection import VersionJobCollection
from relevance_bayes.client.json import Form, exclude_none
from relevance_bayes.client.paths import reference, version_path
from relevance_bayes.types.evaluations import Evaluation
from relevance_bayes.types.pages import Page

_ONE: Form[Evaluation] = Form(Evaluation)


@dataclass(frozen=True)
class Evaluations(VersionJobCollection[M, Evaluation]):
    """Evaluations of versions on datasets."""

    path: str = "/v1/evaluations"
    one: Form[Evaluation] = _ONE
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
