"""Jobs: one with the calls on it, those of a kind, and those of all kinds."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, TypeVar

from relevance_bayes.client.calls import Calls, M, call, listing
from relevance_bayes.client.drivers import Query
from relevance_bayes.client.http import Http, part
from relevance_bayes.client.job_events import follow, followed, read_message
from relevance_bayes.client.progress import display_of
from relevance_bayes.records.html import facts_html
from relevance_bayes.records.jobs import Event, JobBase, JobKind, JobPage, JobState, JobSummary
from relevance_bayes.records.json import ResponseForm
from relevance_bayes.records.pages import Page

J = TypeVar("J", bound=JobBase)

MAX_WAIT_SECONDS = 30
"""The maximum time of one long poll."""


async def job_at(http: Http, one: ResponseForm[J], path: str, wait: float) -> J:
    """Return the job at a path, once it has ended or after `wait` seconds."""
    return await http.get(one, path, {"wait": wait or None}, wait=wait)


async def ended_at(http: Http, one: ResponseForm[J], path: str, *, progress: bool) -> J:
    """Wait for the job at a path to end, and return it; with `progress`, show its progress."""
    if progress:
        job = await job_at(http, one, path, 0)
        with display_of(job.model) as display:
            async with aclosing(follow(http, f"{path}/events")) as events:
                async for event in events:
                    display.show(event)
    while not (job := await job_at(http, one, path, MAX_WAIT_SECONDS)).has_ended:
        pass
    return job


@dataclass(frozen=True)
class JobHandle(Calls[M], Generic[M, J]):
    """A job by its `id`, at its `path`."""

    id: str
    path: str
    one: ResponseForm[J]

    @call
    async def get(self) -> J:
        """Return the job as it is now."""
        return await job_at(self.http, self.one, self.path, 0)

    @call
    async def wait(self, *, progress: bool = False) -> J:
        """Wait for the job to end, without a timeout, and return it, also if it failed: check `state`.

        With `progress`, its progress is shown: by rich in a terminal, as HTML in a notebook, in lines elsewhere.
        """
        return await ended_at(self.http, self.one, self.path, progress=progress)

    @listing
    def events(self, *, after: int = 0) -> AsyncGenerator[Event, None]:
        """Yield the events after event number `after`, as they happen, until the job has ended.

        After a broken connection or a restart of the service, it continues with the next event.
        """
        return follow(self.http, f"{self.path}/events", after=after)

    @call
    async def cancel(self) -> J:
        """Cancel the job; a running one stops within a second."""
        return await self.http.post(self.one, f"{self.path}/cancel")

    def _repr_html_(self) -> str:
        return facts_html("Job", {"id": self.id, "path": self.path})


@dataclass(frozen=True)
class JobCollection(Calls[M], Generic[M, J]):
    """Jobs of one kind; every method raises ClientError as those of `Client` do."""

    path: str
    one: ResponseForm[J]
    many: type[Page[J]]

    @call
    async def events(self, job_id: str, *, after: str | None = None, wait: float = 0) -> Page[Event]:
        """Return the events after `after`, once there are some or after `wait` seconds."""
        query = {"after": after, "wait": wait or None}
        return await self.http.get(Page[Event], f"{self._at(job_id)}/events", query, wait=wait)

    @listing
    def follow(self, job_id: str, *, after: int = 0) -> AsyncGenerator[Event, None]:
        """Yield the events after event number `after`, as they happen, until the job has ended.

        After a broken connection or a restart of the service, it continues with the next event.
        """
        return follow(self.http, f"{self._at(job_id)}/events", after=after)

    @call
    async def cancel(self, job_id: str) -> J:
        """Cancel a job; a running one stops within a second."""
        return await self.http.post(self.one, f"{self._at(job_id)}/cancel")

    @call
    async def retry(self, job_id: str, *, key: str | None = None) -> J:
        """Submit the request of an ended job again; `key` as in `Client.upload`."""
        return await self.http.create(self.one, f"{self._at(job_id)}/retry", key=key)

    def _at(self, job_id: str) -> str:
        return f"{self.path}/{part(job_id)}"


@dataclass(frozen=True)
class VersionJobCollection(JobCollection[M, J]):
    """Jobs of one kind that apply versions to datasets."""

    def handle(self, job: str | J) -> JobHandle[M, J]:
        """Return a job, given by its id or its record, with the calls on it."""
        job_id = job if isinstance(job, str) else job.id
        return JobHandle(self.http, job_id, self._at(job_id), self.one)

    @call
    async def get(self, job_id: str, *, wait: float = 0) -> J:
        """Return a job, once it has ended or after `wait` seconds."""
        return await job_at(self.http, self.one, self._at(job_id), wait)

    @call
    async def wait(self, job_id: str, *, progress: bool = False) -> J:
        """Wait for a job to end, without a timeout; `progress` as in `JobHandle.wait`."""
        return await ended_at(self.http, self.one, self._at(job_id), progress=progress)

    @listing
    def all(
        self,
        *,
        model: str | None = None,
        version: int | None = None,
        dataset_id: str | None = None,
        state: str | None = None,
    ) -> AsyncGenerator[J, None]:
        """Return the jobs that match, newest first, without diagnostics; those on one dataset compare versions."""
        query = {"model": model, "version": version, "dataset_id": dataset_id, "state": state}
        return self.http.pages(self.many, self.path, query)


PATH = "/v1/jobs"

_SUMMARY: ResponseForm[JobSummary] = ResponseForm(JobSummary)
_PAGE: ResponseForm[JobPage] = ResponseForm(JobPage)


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
