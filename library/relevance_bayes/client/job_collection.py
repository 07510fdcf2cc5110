"""Calls that jobs of every kind have in common, at the path of their kind."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Generic, TypeVar

from relevance_bayes.client.calls import Calls, M, call, listing
from relevance_bayes.client.job_events import follow
from relevance_bayes.client.job_handle import JobHandle, ended_at, job_at
from relevance_bayes.client.json import Form
from relevance_bayes.client.paths import part
from relevance_bayes.records.jobs import Event, JobBase
from relevance_bayes.records.pages import Page

J = TypeVar("J", bound=JobBase)


@dataclass(frozen=True)
class JobCollection(Calls[M], Generic[M, J]):
    """Jobs of one kind; every method raises ClientError as those of `Client` do."""

    path: str
    one: Form[J]
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
