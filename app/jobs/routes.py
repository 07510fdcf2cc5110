"""Routes of jobs of all kinds: one list, the events of a job as pages, and changes and events as streams."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Annotated
from uuid import UUID

import anyio
from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import WithJsonSchema
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.errors import UnauthenticatedError, UnavailableError
from app.http.authentication import LastingRequest
from app.http.dependencies import Owner, ServicesDependency, identifier
from app.http.lists import Limit, Wait
from app.http.negotiation import (
    BEGINNING,
    EVENT_STREAM,
    AcceptsJson,
    keep_alive,
    prefers_events,
    rendered,
    require_events_accept,
)
from app.http.openapi import problems
from app.jobs.records import Position, changes_id
from app.jobs.schemas import POSITION_PATTERN, AllJobsQuery, JobChangesQuery, job_summary
from app.jobs.service import JobService
from app.jobs.waiter import Batch, JobWaiter, JobWaiterDependency, LastingRequestDependency, WaitingRequests
from relevance_bayes.records.errors import Fault, InvalidRequestError, NotFoundError
from relevance_bayes.records.jobs import JOB_PATHS, NOUNS, Event, JobKind, JobPage, Transition
from relevance_bayes.records.json import Page

KEEP_ALIVE_SECONDS = 15.0
"""Seconds without an event after which a stream sends a comment as a keep-alive."""

RETRY_SECONDS = 2.0
"""Seconds until a stream queries again after the database could not be reached."""


class EventStreamResponse(StreamingResponse):
    """A stream of an owner, whose source is closed also when the client disconnects."""

    def __init__(self, chunks: AsyncGenerator[bytes], waiting: WaitingRequests, owner: str) -> None:
        # Not cached, and not buffered by a proxy (nginx).
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(chunks, headers=headers, media_type=EVENT_STREAM)
        self._chunks = chunks
        self._waiting = waiting
        self._owner = owner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream; raises RateLimitError where too many are open."""
        with self._waiting.one_of(self._owner):
            await super().__call__(scope, receive, send)

    async def stream_response(self, send: Send) -> None:
        """Send chunks as they come; the next one is requested once the last one has been sent."""
        async with aclosing(self._chunks):
            await super().stream_response(send)


async def streamed(
    job_waiter: JobWaiter,
    request: LastingRequest,
    watched: UUID,
    batch: Batch,
    read: Callable[[Position], Awaitable[Batch]],
) -> AsyncGenerator[bytes]:
    """Stream events from the first batch on, until the last one, the request's credential ends, or this process shuts
    down.

    `read` returns the events after a position, and is called again when the job `watched` may have changed. It raises
    NotFoundError where the job or the position is not in the database.
    """
    yield BEGINNING
    sent_at = time.monotonic()
    with job_waiter.change_event(watched) as changed_event:
        changed_event.set()  # something may have happened since the first query
        while True:
            if batch.content or time.monotonic() - sent_at >= KEEP_ALIVE_SECONDS:
                yield batch.content or keep_alive(str(batch.last))
                sent_at = time.monotonic()
            if batch.is_end or job_waiter.watcher.is_stopped:
                return
            try:
                await request.check()
                if not batch.is_full:
                    await request.wait(changed_event, sent_at + KEEP_ALIVE_SECONDS - time.monotonic())
                changed_event.clear()
                batch = await read(batch.last)
            except (NotFoundError, UnauthenticatedError):  # it was deleted, or a new request would be refused
                return
            except UnavailableError:
                batch = Batch(b"", batch.last, is_end=False, is_full=False)
                yield keep_alive(str(batch.last))
                await anyio.sleep(RETRY_SECONDS)
                changed_event.set()


MAX_EVENTS = 2**31 - 1

EventNumber = Annotated[int, Query(ge=0, le=MAX_EVENTS, description="Return only events with greater numbers.")]
LastEventId = Annotated[
    int | None,
    Header(
        alias="Last-Event-ID",
        ge=0,
        le=MAX_EVENTS,
        description="For a stream: the id of the last event received. Takes precedence over `after`.",
    ),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MAX_EVENTS}),
]

_AT = datetime(2026, 11, 22, 9, 30, 12, 345678, UTC)
_EVENT_STREAM = {
    "schema": {
        "type": "string",
        "description": "Each event's `id` is its number, its `event` its kind, its `data` an item of a page.",
    },
    "example": (
        BEGINNING + rendered(Event(2, _AT, "transition", transition=Transition("running", _AT, 1))) + keep_alive("2")
    ).decode(),
}


def events_of(kind: JobKind, *, tag: str, summary: str) -> APIRouter:
    """Return the router for the events of jobs of a kind."""
    of_kind = APIRouter(prefix=JOB_PATHS[kind], tags=[tag])

    @of_kind.get(
        "/{job_id}/events",
        summary=summary,
        response_model=Page[Event],
        responses={
            200: {"description": "Events, as a page or a stream.", "content": {EVENT_STREAM: _EVENT_STREAM}},
            204: {"description": "For a stream: the job has ended after the event `Last-Event-ID`. Do not reconnect."},
            **problems(404, 406, 422),
        },
    )
    async def events(
        job_id: str,
        owner: Owner,
        job_waiter: JobWaiterDependency,
        lasting: LastingRequestDependency,
        request: Request,
        limit: Limit = 100,
        after: EventNumber = 0,
        wait: Wait = 0,
        last_event_id: LastEventId = None,
    ) -> Page[Event] | Response:
        """List a job's transitions and progress in order; `wait` waits for an event after `after` (long polling).

        With `Accept: text/event-stream`, the response streams the events after `Last-Event-ID` (or `after`), and then
        each new one until the job has ended; `limit` and `wait` apply to pages only. Where a stream breaks off before,
        send the request again, to this process or another, with the last id: no event is lost or repeated. EventSource
        reconnects by itself; it sends no API key, and needs a session where the service needs keys. Within five seconds
        after its key, token, session or membership in the project has ended, a stream ends, and a long poll responds
        401.
        """
        job = identifier(job_id, NOUNS[kind])
        if prefers_events(request.headers.getlist("accept")):
            seen = Position(after if last_event_id is None else last_event_id)
            first = await job_waiter.batch(owner, kind, job, seen)
            if first.is_end and not first.content:
                return Response(status_code=204)
            read = partial(job_waiter.batch, owner, kind, job)
            return EventStreamResponse(streamed(job_waiter, lasting, job, first, read), job_waiter.waiting, owner)
        found = await job_waiter.events(lasting, owner, kind, job, limit=limit + 1, after=after, wait=wait)
        shown = found[:limit]
        return Page.of(shown, str(shown[-1].number) if len(found) > limit else None)

    return of_kind


TAG = "Jobs"
router = APIRouter(prefix="/v1/jobs", tags=[TAG])

LastChange = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        pattern=POSITION_PATTERN,
        description="The last id received. Takes precedence over `after`.",
    ),
    WithJsonSchema({"type": "string", "pattern": POSITION_PATTERN}),
]

_JOB_STREAM = {
    "schema": {
        "type": "string",
        "description": "Messages `job`: their `data` is an item of the list, their `id` that of its last change.",
    },
    "example": (BEGINNING + keep_alive("8c2fd02e6ab1f735-41")).decode(),
}


@router.get("", summary="List jobs of all kinds", dependencies=[AcceptsJson], responses=problems(422, 406))
def jobs(owner: Owner, services: ServicesDependency, query: Annotated[AllJobsQuery, Query()]) -> JobPage:
    """List training jobs, evaluations, promotions and batch predictions by age; with `counts=true`, also the number of
    jobs in each state.

    Items have no request and no result: get these at the item's `path`. `GET /v1/jobs/events` streams what changes
    after the page.
    """
    found = services[JobService].summaries(owner, query.part, which=query.filter, counts=query.counts)
    items = tuple(map(job_summary, found.page.items))
    after = found.page.next
    return JobPage(items, after is not None, after, found.counts, str(found.last_change))


@router.get(
    "/events",
    summary="Stream the changes of jobs of all kinds",
    response_class=StreamingResponse,
    responses={
        200: {"description": "A stream that does not end by itself.", "content": {EVENT_STREAM: _JOB_STREAM}},
        **problems(406, 422),
    },
)
async def events(
    owner: Owner,
    job_waiter: JobWaiterDependency,
    lasting: LastingRequestDependency,
    request: Request,
    query: Annotated[JobChangesQuery, Query()],
    last_event_id: LastChange = None,
) -> StreamingResponse:
    """Stream each job that is created, starts, progresses, is to be cancelled or ends, as it is then, to clients whose
    `Accept` prefers `text/event-stream`.

    The stream begins after the change `Last-Event-ID` (or `after`), and goes on with each new one. Where several
    changes of a job come before it is sent, it is sent once, with all of its transitions. Where the stream breaks off,
    send the request again, to this process or another, with the last id: no change is lost. Deletions are not sent.
    Credentials are checked as for the events of one job. After a restore by `relevance restore`, ids from before it are
    refused (422): get the list again.
    """
    require_events_accept(request.headers.getlist("accept"))
    seen = query.after if last_event_id is None else last_event_id
    read = partial(job_waiter.changes, owner, query.filter)
    try:
        first = await read(await job_waiter.last_change(owner) if seen is None else Position.parse(seen))
    except NotFoundError as unknown:
        detail = unknown.detail
        place = Fault(detail, parameter="after") if last_event_id is None else Fault(detail, header="Last-Event-ID")
        raise InvalidRequestError(detail, [place]) from unknown
    first = replace(first, content=first.content or keep_alive(str(first.last)))
    stream = streamed(job_waiter, lasting, changes_id(owner), first, read)
    return EventStreamResponse(stream, job_waiter.waiting, owner)
