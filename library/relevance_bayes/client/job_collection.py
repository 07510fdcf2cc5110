"""The calls that jobs of every kind have in common, at the path where those of one kind are."""

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
"""Seconds for which one question may be held open by the service."""


@dataclass(frozen=True)
class JobCollection(Generic[J]):
    """Jobs of one kind; every method raises ClientError as those of `Relevance` do."""

    http: Http
    path: str
    one: Converter[J]
    many: type[Page[J]]

    def get(self, job_id: str, *, wait: float = 0) -> J:
        """One, as soon as it has ended or `wait` seconds have passed."""
        return self.http.get(self.one, f"{self.path}/{part(job_id)}", {"wait": wait or None}, wait=wait)

    def wait(self, job_id: str) -> J:
        """Wait for its end, however long it takes."""
        while not (job := self.get(job_id, wait=MAX_WAIT_SECONDS)).has_ended:
            pass
        return job

    def all(self, *, state: str | None = None) -> Iterator[J]:
        """All, or those in this state, newest first."""
        return self.http.pages(self.many, self.path, {"state": state})

    def events(self, job_id: str, *, after: str | None = None, wait: float = 0) -> Page[Event]:
        """Return what happened to it past `after`, as soon as there is something or `wait` seconds have passed."""
        path = f"{self.path}/{part(job_id)}/events"
        return self.http.get(Page[Event], path, {"after": after, "wait": wait or None}, wait=wait)

    def follow(self, job_id: str, *, after: int = 0) -> Iterator[Event]:
        """Everything that happens to it past event number `after`, as it happens, to its end.

        Where the connection breaks, or its process is started again, it goes on with what was not seen yet.
        """
        return follow(self.http, f"{self.path}/{part(job_id)}/events", after=after)

    def cancel(self, job_id: str) -> J:
        """Ask for its end; a running one is gone within a second."""
        return self.http.post(self.one, f"{self.path}/{part(job_id)}/cancel")

    def retry(self, job_id: str, *, key: str | None = None) -> J:
        """Ask for a new one of a finished one's request; `key` as in `Relevance.upload`."""
        return self.http.create(self.one, f"{self.path}/{part(job_id)}/retry", key=key)


@dataclass(frozen=True)
class VersionJobCollection(JobCollection[J]):
    """Jobs of one kind that put versions to use on datasets."""

    def all(
        self,
        *,
        model: str | None = None,
        version: int | None = None,
        dataset_id: str | None = None,
        state: str | None = None,
    ) -> Iterator[J]:
        """All of which this is said, newest first, without pictures; those on one dataset compare versions."""
        query = {"model": model, "version": version, "dataset_id": dataset_id, "state": state}
        return self.http.pages(self.many, self.path, query)
