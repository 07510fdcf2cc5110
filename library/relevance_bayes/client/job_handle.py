"""One job, with the calls on it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, TypeVar

from relevance_bayes.client.calls import Calls, M, call, listing
from relevance_bayes.client.http import Http
from relevance_bayes.client.job_events import follow
from relevance_bayes.client.json import Form
from relevance_bayes.client.progress import display_of
from relevance_bayes.records.html import facts_html
from relevance_bayes.records.jobs import Event, JobBase

J = TypeVar("J", bound=JobBase)

MAX_WAIT_SECONDS = 30
"""The maximum time of one long poll."""


async def job_at(http: Http, one: Form[J], path: str, wait: float) -> J:
    """Return the job at a path, once it has ended or after `wait` seconds."""
    return await http.get(one, path, {"wait": wait or None}, wait=wait)


async def ended_at(http: Http, one: Form[J], path: str, *, progress: bool) -> J:
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
    one: Form[J]

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
