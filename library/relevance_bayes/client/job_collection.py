"""Calls that jobs of every kind have in common, at the path of their kind."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from relevance_bayes.client.http import Http
from relevance_bayes.client.job_events import follow
from relevance_bayes.client.paths import part
from relevance_bayes.types.jobs import Event, JobBase
from relevance_bayes.types.pages import Page
from relevance_bayes.types.records import Converter

J = TypeVar("J", bound=JobBase)

MAX_WAIT_SECONDS = 30
"""The maximum time of one long poll."""


@dataclass(frozen=True)
class JobCollection(Generic[J]):
    """Jobs of one kind; every method raises ClientError as those of `Relevance` do."""

    http: Http
    path: str
    one: Converter[J]
    many: type[Page[J]]

    def get(self, job_id: str, *, wait: float = 0) -> J:
        """Return a job, once it has ended or after `wait` seconds."""
        return self.http.get(self.one, f"{self.path}/{part(job_id)}", {"wait": wait or None}, wait=wait)

    def wait(self, job_id: str) -> J:
        """Wait for a job to end, without a timeout."""
        while not (job := self.get(job_id, wait=MAX_WAIT_SECONDS)).has_ended:
            pass
        return job

    def all(self, *, state: str | None = None) -> Iterator[J]:
        """Return all jobs, or those in this state, newest first."""
        return self.http.pages(self.many, self.path, {"state": state})

    def events(self, job_id: str, *, after: str | None = None, wait: float = 0) -> Page[Event]:
        """Return the events after `after`, once there are some or after `wait` seconds."""
        path = f"{self.path}/{part(job_id)}/events"
        return self.http.get(Page[Event], path, {"after": after, "wait": wait or None}, wait=wait)

    def follow(self, job_id: str, *, after: int = 0) -> Iterator[Event]:
        """Yield the events after event number `after`, as they happen, until the job has ended.

        After a broken connection or a restart of the service, it continues with the next event.
        """
        return follow(self.http, f"{self.path}/{part(job_id)}/events", after=after)

    def cancel(self, job_id: str) -> J:
        """Cancel a job; a running one stops within a second."""
        return self.http.post(self.one, f"{self.path}/{part(job_id)}/cancel")

    def retry(self, job_id: str, *, key: str | None = None) -> J:
        """Submit the request of an ended job again; `key` as in `Relevance.upload`."""
        return self.http.create(self.one, f"{self.path}/{part(job_id)}/retry", key=key)


@dataclass(frozen=True)
class VersionJobCollection(JobCollection[J]):
    """Jobs of one kind that apply versions to datasets."""

    def all(
        self,
        *,
        model: str | None = None,
        version: int | None = None,
        dataset_id: str | None = None,
        state: str | None = None,
    ) -> Iterator[J]:
        """Return the jobs that match, newest first, without diagnostics; those on one dataset compare versions."""
        query = {"model": model, "version": version, "dataset_id": dataset_id, "state": state}
        return self.http.pages(self.many, self.path, query)
