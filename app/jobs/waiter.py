"""Long polling of jobs: one thread of a process listens to changes, and wakes the requests that wait for them."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from threading import Condition, Thread
from typing import Annotated, TypeVar
from uuid import UUID

import anyio
import anyio.to_thread
from anyio import CapacityLimiter
from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from app.database.notifier import Notifier
from app.database.transaction import OpenTransaction
from app.errors import RateLimitError, UnavailableError
from app.http.authentication import LastingRequest, Reauthentication
from app.http.dependencies import services_of
from app.http.negotiation import message, rendered
from app.jobs.records import Job, JobFilter, Position
from app.jobs.repository import JobChangeRepository, JobRepository
from app.jobs.schemas import job_summary
from app.jobs.service import JobService
from relevance_bayes.records.jobs import FINISHED, Event, JobKind

logger = logging.getLogger(__name__)

Wake = Callable[[], None]
"""Called in the watching thread: it must return at once, and never raise."""

CHECK_SECONDS = 3.0
"""Seconds between checks of watched jobs without a notification, since one may be lost."""

LINGER_SECONDS = 30.0
"""Seconds for which the connection is kept while no request waits."""

PAUSES = (0.1, 0.5, 1.0)
"""Seconds between attempts to listen after failures; the last value applies to all further ones."""

JOIN_SECONDS = 2.0
"""Seconds to wait for the thread to end, unless the database blocks it."""

MAX_AT_ONCE = 500
"""The number of jobs in one statement."""


class JobWatcher:
    """Wakes requests that wait for a job. While none waits, no query runs and no connection is held."""

    def __init__(
        self,
        transaction: OpenTransaction,
        notifier: Notifier,
        *,
        check: float = CHECK_SECONDS,
        linger: float = LINGER_SECONDS,
    ) -> None:
        self._transaction = transaction
        self._notifier = notifier
        self._check_seconds = check
        self._linger = linger
        self._changed = Condition()
        self._waiting: dict[UUID, list[Wake]] = {}
        self._counts: dict[UUID, int | None] = {}
        self._thread: Thread | None = None
        self._is_stopped = False

    @property
    def is_stopped(self) -> bool:
        """Return whether this process shuts down: requests should stop waiting."""
        return self._is_stopped

    @contextmanager
    def watching(self, job_id: UUID, wake: Wake) -> Iterator[None]:
        """Call `wake`, while the context is open, whenever the job, or one of an owner by `changes_id`, may change.

        A caller that queries once within the context, and again after each call, misses no change.
        """
        with self._changed:
            self._waiting.setdefault(job_id, []).append(wake)
            if not self._is_stopped and (self._thread is None or not self._thread.is_alive()):
                self._thread = Thread(target=self._run, name="watcher", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                others = self._waiting[job_id]
                others.remove(wake)
                if not others:
                    del self._waiting[job_id]
                    self._counts.pop(job_id, None)

    def stop(self) -> None:
        """Wake all waiting requests for the last time; may be called again."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
            jobs = tuple(self._waiting)
        self._wake(jobs)

    def close(self) -> None:
        """Stop, and end the thread."""
        self.stop()
        if self._thread is not None:
            self._thread.join(JOIN_SECONDS)

    def _run(self) -> None:
        failures = 0
        while self._is_needed():
            try:
                with self._notifier.open() as listener:
                    # The connection receives no notification of what was committed before it listened.
                    self._check()
                    failures, checked = 0, time.monotonic()
                    while self._is_needed(within=self._linger):
                        received = listener.receive()
                        if received is None or time.monotonic() - checked > self._check_seconds:
                            self._check()
                            checked = time.monotonic()
                        self._wake(received or ())
            except UnavailableError as error:
                if failures == 0:
                    logger.warning("notifications of jobs can't be received", extra={"why": error.detail})
                with self._changed:
                    self._changed.wait_for(lambda: self._is_stopped, PAUSES[min(failures, len(PAUSES) - 1)])
                failures += 1
                with suppress(UnavailableError):  # queries may succeed even so
                    self._check()

    def _is_needed(self, *, within: float | None = None) -> bool:
        """Wait at most `within` seconds, or until shutdown; return whether a request waits."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_stopped, within)
            return bool(self._waiting) and not self._is_stopped

    def _check(self) -> None:
        """Wake the requests of jobs whose number of events differs from that of the last check."""
        with self._changed:
            jobs = tuple(self._waiting)
        counts = self._count(jobs)
        with self._changed:
            changed = [job for job in jobs if job in self._waiting and self._counts.get(job, -1) != counts.get(job)]
            self._counts |= {job: counts.get(job) for job in changed}
        self._wake(changed)

    def _count(self, jobs: Sequence[UUID]) -> Mapping[UUID, int]:
        counts: dict[UUID, int] = {}
        for first in range(0, len(jobs), MAX_AT_ONCE):
            with self._transaction() as tx:
                some = jobs[first : first + MAX_AT_ONCE]
                counts |= {**JobRepository(tx).event_counts(some), **JobChangeRepository(tx).numbers(some)}
        return counts

    def _wake(self, jobs: Sequence[UUID] | frozenset[UUID]) -> None:
        with self._changed:
            wakes = [wake for job in jobs for wake in self._waiting.get(job, ())]
        for wake in wakes:
            wake()


T = TypeVar("T")
EventQuery = tuple[str, JobKind, UUID, Position]
"""A query for events: the owner, the job with its kind, the position of the last one received."""

ChangeQuery = tuple[str, JobFilter, Position]
"""A query for changes of jobs: the owner, the filter, the position of the last one received."""

MAX_QUERIES = 8
"""Concurrent queries of requests that were woken: threads and connections are shared with other requests."""

BATCH = 100
"""The most events that are read at once for a stream, and so held in memory for a slow reader."""


@dataclass(frozen=True)
class Batch:
    """Messages of a stream up to position `last`; `is_end`: none will follow, `is_full`: there may be more."""

    content: bytes
    last: Position
    is_end: bool
    is_full: bool


MAX_SHARE = 0.5
"""The share of a process's connections that long polls and event streams may have."""

MAX_OF_OWNER = 100
"""The maximum number of long polls and event streams of an owner, and at most a quarter of all connections."""

RETRY_AFTER_SECONDS = 10


class WaitingRequests:
    """The long polls and event streams of a process, whose numbers are bounded: connections are left for the others."""

    def __init__(self, max_connections: int) -> None:
        self.max_in_all = max(1, int(max_connections * MAX_SHARE))
        self.max_of_owner = max(1, min(MAX_OF_OWNER, self.max_in_all // 2))
        self._counts: Counter[str] = Counter()

    @contextmanager
    def one_of(self, owner: str) -> Iterator[None]:
        """Count a request of an owner while the context is open; raises RateLimitError where there are too many."""
        for count, maximum, whose in (
            (self._counts[owner], self.max_of_owner, "of this owner"),
            (self._counts.total(), self.max_in_all, "of all owners"),
        ):
            if count >= maximum:
                raise RateLimitError(
                    f"{count:,} long polls and event streams {whose} are open in this process, the maximum.",
                    retry_after=RETRY_AFTER_SECONDS,
                )
        self._counts[owner] += 1
        try:
            yield
        finally:
            self._counts[owner] -= 1
            if not self._counts[owner]:
                del self._counts[owner]


class JobWaiter:
    """Long polling: requests wait for events of jobs, woken together."""

    def __init__(self, jobs: JobService, watcher: JobWatcher, waiting: WaitingRequests) -> None:
        self.watcher = watcher
        self.waiting = waiting
        self._jobs = jobs
        self._limiter = CapacityLimiter(MAX_QUERIES)
        self._queries: dict[EventQuery | ChangeQuery, asyncio.Task[Batch]] = {}

    async def ended(self, request: LastingRequest, owner: str, kind: JobKind, job_id: UUID, wait: float) -> Job:
        """Return a job once it has ended or after `wait` seconds.

        Raises NotFoundError, UnauthenticatedError, RateLimitError.
        """
        return await self._when(
            request,
            lambda: self._jobs.get(owner, job_id, kind=kind),
            lambda job: job.state in FINISHED,
            owner=owner,
            job_id=job_id,
            wait=wait,
        )

    async def events(
        self, request: LastingRequest, owner: str, kind: JobKind, job_id: UUID, *, limit: int, after: int, wait: float
    ) -> tuple[Event, ...]:
        """Return events after number `after` once there is one or after `wait` seconds.

        Raises NotFoundError, UnauthenticatedError, RateLimitError.
        """
        return await self._when(
            request,
            lambda: self._jobs.events(owner, job_id, limit=limit, after=after, kind=kind),
            bool,
            owner=owner,
            job_id=job_id,
            wait=wait,
        )

    async def batch(self, owner: str, kind: JobKind, job_id: UUID, after: Position) -> Batch:
        """Return the events after position `after`; raises NotFoundError.

        Readers at the same position share one query that has not begun.
        """
        query = (owner, kind, job_id, after)
        return await self._shared(query, lambda: self._read(query))

    async def changes(self, owner: str, which: JobFilter, after: Position) -> Batch:
        """Return the jobs that changed after position `after`, and are selected by the filter.

        Raises NotFoundError where the database does not have the change at this position. Readers at the same position
        share one query, as in `batch`.
        """
        query = (owner, which, after)
        return await self._shared(query, lambda: self._read_changes(query))

    async def last_change(self, owner: str) -> Position:
        """Return the position of the last change of an owner's jobs."""
        return await anyio.to_thread.run_sync(self._jobs.last_change, owner, limiter=self._limiter)

    async def _shared(self, query: EventQuery | ChangeQuery, read: Callable[[], Batch]) -> Batch:
        task = self._queries.get(query)
        if task is None:
            reading = anyio.to_thread.run_sync(read, limiter=self._limiter)
            task = self._queries[query] = asyncio.create_task(reading)
        return await asyncio.shield(task)

    @contextmanager
    def change_event(self, job_id: UUID) -> Iterator[asyncio.Event]:
        """Return an event that is set whenever the job, or one of an owner's by `changes_id`, may have changed."""
        loop, changed_event = asyncio.get_running_loop(), asyncio.Event()

        def set_event() -> None:
            with suppress(RuntimeError):  # the loop may be closed already
                loop.call_soon_threadsafe(changed_event.set)

        with self.watcher.watching(job_id, set_event):
            yield changed_event

    async def _when(
        self,
        request: LastingRequest,
        read: Callable[[], T],
        is_enough: Callable[[T], bool],
        *,
        owner: str,
        job_id: UUID,
        wait: float,
    ) -> T:
        """Return the result of `read` once it is enough, or after `wait` seconds."""
        found = await run_in_threadpool(read)
        if is_enough(found) or not wait:
            return found
        with self.waiting.one_of(owner), self.change_event(job_id) as changed_event, anyio.move_on_after(wait):
            while True:
                await request.check()
                found = await anyio.to_thread.run_sync(read, limiter=self._limiter)
                if is_enough(found) or self.watcher.is_stopped:
                    break
                await request.wait(changed_event, wait)
                changed_event.clear()
        return found

    def _read(self, query: EventQuery) -> Batch:
        # Removed first: a reader that comes from now on may wait for a change that this query does not see.
        del self._queries[query]
        owner, kind, job_id, after = query
        history = self._jobs.history(owner, job_id, limit=BATCH, after=after.number, kind=kind)
        return Batch(
            content=b"".join(map(rendered, history.events)),
            last=Position(history.events[-1].number) if history.events else after,
            is_end=history.is_whole,
            is_full=len(history.events) == BATCH,
        )

    def _read_changes(self, query: ChangeQuery) -> Batch:
        del self._queries[query]
        owner, which, after = query
        found = self._jobs.changes(owner, after=after, limit=BATCH, which=which)
        ids = (str(replace(found.last, number=job.change)) for job in found.jobs)
        content = b"".join(
            message(event_id, "job", job_summary(job)) for event_id, job in zip(ids, found.jobs, strict=True)
        )
        return Batch(content, found.last, is_end=False, is_full=len(found.jobs) == BATCH)


async def _job_waiter(request: Request) -> JobWaiter:
    return services_of(request)[JobWaiter]


async def _lasting(request: Request) -> LastingRequest:
    return LastingRequest(request.scope, services_of(request)[Reauthentication])


JobWaiterDependency = Annotated[JobWaiter, Depends(_job_waiter)]
LastingRequestDependency = Annotated[LastingRequest, Depends(_lasting)]
