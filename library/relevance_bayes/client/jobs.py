"""Jobs of all kinds."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from relevance_bayes.client.calls import Calls, M, call, listing
from relevance_bayes.client.drivers import Query
from relevance_bayes.client.job_events import followed, read_message
from relevance_bayes.client.json import Form
from relevance_bayes.records.jobs import JobKind, JobPage, JobState, JobSummary
from relevance_bayes.records.pages import Page

PATH = "/v1/jobs"

_SUMMARY: Form[JobSummary] = Form(JobSummary)
_PAGE: Form[JobPage] = Form(JobPage)


@dataclass(frozen=True)
class Jobs(Calls[M]):
    """Jobs of all kinds: training jobs, evaluations, promotions and batch predictions, without requests and results.

    Every method raises ClientError as those of `Client` do.
    """

    @call
    async def page(
        self,
        *,
        kind: JobKind | None = None,
        state: JobState | None = None,
        model: str | None = None,
        dataset_id: str | None = None,
        after: str | None = None,
        limit: int | None = None,
        counts: bool = False,
    ) -> JobPage:
        """Return a page of the jobs that match, newest first; with `counts`, also the number of jobs in each state."""
        filters = {"kind": kind, "state": state, "model": model, "dataset_id": dataset_id}
        query = {**filters, "after": after, "limit": limit, "counts": "true" if counts else None}
        return await self._page(query)

    @listing
    def all(
        self,
        *,
        kind: JobKind | None = None,
        state: JobState | None = None,
        model: str | None = None,
        dataset_id: str | None = None,
    ) -> AsyncGenerator[JobSummary, None]:
        """Return all jobs that match, newest first."""
        query = {"kind": kind, "state": state, "model": model, "dataset_id": dataset_id}
        return self.http.pages(Page[JobSummary], PATH, query)

    @listing
    async def follow(
        self,
        *,
        after: str | None = None,
        kind: JobKind | None = None,
        model: str | None = None,
        dataset_id: str | None = None,
    ) -> AsyncGenerator[JobSummary, None]:
        """Yield each job that matches when it changes, after the change `after` (`last_change` of a page), else from
        now on, without end.

        After a broken connection or a restart of the service, it continues with the next change.
        """
        last = (await self._page({"limit": 1})).last_change if after is None else after
        query = {"kind": kind, "model": model, "dataset_id": dataset_id}
        async with aclosing(followed(self.http, f"{PATH}/events", after=last, query=query)) as messages:
            async for message in messages:
                yield read_message(message, _SUMMARY)

    async def _page(self, query: Query) -> JobPage:
        return await self.http.get(_PAGE, PATH, query)
