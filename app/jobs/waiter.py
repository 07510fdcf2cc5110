"""Long polling of jobs on the event loop; a waiting request uses neither a thread nor the database."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Annotated, TypeVar
from uuid import UUID

import anyio
import anyio.to_thread
from anyio import CapacityLimiter
from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from app.http.dependencies import services_of
from app.http.reauthentication import LastingRequest, Reauthentication
from app.http.rendering import message, rendered
from app.jobs.records import Job, JobFilter
from app.jobs.schemas import job_summary
from app.jobs.service import Jobs
from app.jobs.watcher import JobWatcher
from relevance_bayes.types.jobs import FINISHED, Event, JobKind

T = TypeVar("T")
Place = tuple[str, JobKind, UUID, int]
"""The position of a reader of events: the owner, the job with its kind, the last number received."""

ListPlace = tuple[str, JobFilter, int]
"""The position of a reader of changes of jobs: the owner, the filter, the last number received."""

MAX_QUERIES = 8
"""Concurrent queries of requests that were woken: threads and connections are shared with other requests."""

BATCH = 100
"""The most events that are read at once for a stream, and so held in memory for a slow reader."""


@dataclass(frozen=True)
class Batch:
    """Messages of a stream up to number `last`; `is_end`: none will follow, `is_full`: there may be more."""

    content: bytes
    last: int
    is_end: bool
    is_full: bool


class JobWaiter:
    """Long polling: requests wait for events of jobs, woken together."""

    def __init__(self, jobs: Jobs, watcher: JobWatcher) -> None:
        self.watcher = watcher
        self._jobs = jobs
        self._few = CapacityLimiter(MAX_QUERIES)
        self._to_come: dict[Place | ListPlace, asyncio.Task[Batch]] = {}

    async def ended(self, request: LastingRequest, owner: str, kind: JobKind, job_id: UUID, wait: float) -> Job:
        """Return a job once it has ended or after `wait` seconds; raises NotFoundError, UnauthenticatedError."""
        return await self._when(
            request,
            lambda: self._jobs.get(owner, job_id, kind=kind),
            lambda job: job.state in FINISHED,
            job_id=job_id,
            wait=wait,
        )

    async def events(
        self, request: LastingRequest, owner: str, kind: JobKind, job_id: UUID, *, limit: int, after: int, wait: float
    ) -> tuple[Event, ...]:
        """Return events after number `after` once there is one or after `wait` seconds.

        Raises NotFoundError, UnauthenticatedError.
        """
        return await self._when(
            request,
            lambda: self._jobs.events(owner, job_id, limit=limit, after=after, kind=kind),
            bool,
            job_id=job_id,
            wait=wait,
        )

    async def batch(self, owner: str, kind: JobKind, job_id: UUID, after: int) -> Batch:
        """Return the events after number `after`; raises NotFoundError.

        Readers at the same position share one query that has not begun.
        """
        place = (owner, kind, job_id, after)
        return await self._shared(place, lambda: self._read(place))

    async def changes(self, owner: str, which: JobFilter, after: int) -> Batch:
        """Return the jobs that changed after the change with number `after`, and are selected by the filter.

        Readers at the same position share one query, as in `batch`.
        """
        place = (owner, which, after)
        return await self._shared(place, lambda: self._read_changes(place))

    async def last_change(self, owner: str) -> int:
        """Return the number of the last change of an owner's jobs."""
        return await anyio.to_thread.run_sync(self._jobs.last_change, owner, limiter=self._few)

    async def _shared(self, place: Place | ListPlace, read: Callable[[], Batch]) -> Batch:
        look = self._to_come.get(place)
        if look is None:
            reading = anyio.to_thread.run_sync(read, limiter=self._few)
            look = self._to_come[place] = asyncio.create_task(reading)
        return await asyncio.shield(look)

    @contextmanager
    def change_event(self, job_id: UUID) -> Iterator[asyncio.Event]:
        """Return an event that is set whenever the job, or one of an owner's by `changes_id`, may have changed."""
        loop, rung = asyncio.get_running_loop(), asyncio.Event()

        def set_event() -> None:
            with suppress(RuntimeError):  # the loop may be closed already
                loop.call_soon_threadsafe(rung.set)

        with self.watcher.watching(job_id, set_event):
            yield rung

    async def _when(
        self,
        request: LastingRequest,
        look: Callable[[], T],
        is_enough: Callable[[T], bool],
        *,
        job_id: UUID,
        wait: float,
    ) -> T:
        """Return the result of `look` once it is enough, or after `wait` seconds."""
        found = await run_in_threadpool(look)
        if is_enough(found) or not wait:
            return found
        with self.change_event(job_id) as rung, anyio.move_on_after(wait):
            while True:
                await request.check()
                found = await anyio.to_thread.run_sync(look, limiter=self._few)
                if is_enough(found) or self.watcher.is_stopped:
                    break
                await request.wait(rung, wait)
                rung.clear()
        return found

    def _read(self, place: Place) -> Batch:
        # Removed first: a reader that comes from now on may wait for a change that this query does not see.
        del self._to_come[place]
        owner, kind, job_id, after = place
        history = self._jobs.history(owner, job_id, limit=BATCH, after=after, kind=kind)
        return Batch(
            content=b"".join(map(rendered, history.events)),
            last=history.events[-1].number if history.events else after,
            is_end=history.is_whole,
            is_full=len(history.events) == BATCH,
        )

    def _read_changes(self, place: ListPlace) -> Batch:
        del self._to_come[place]
        owner, which, after = place
        found = self._jobs.changes(owner, after=after, limit=BATCH, which=which)
        content = b"".join(message(job.change, "job", job_summary(job)) for job in found.jobs)
        return Batch(content, found.last, is_end=False, is_full=len(found.jobs) == BATCH)


async def _job_waiter(request: Request) -> JobWaiter:
    return services_of(request)[JobWaiter]


async def _lasting(request: Request) -> LastingRequest:
    return LastingRequest(request.scope, services_of(request)[Reauthentication])


JobWaiterDependency = Annotated[JobWaiter, Depends(_job_waiter)]
LastingRequestDependency = Annotated[LastingRequest, Depends(_lasting)]
