"""Events of a job of any kind: as pages, or as a stream until its end."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

import anyio
from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import WithJsonSchema
from starlette.responses import StreamingResponse
from starlette.types import Send

from app.errors import UnauthenticatedError, UnavailableError
from app.http.dependencies import Owner, identifier
from app.http.lists import Limit, Wait
from app.http.negotiation import EVENT_STREAM, prefers_events
from app.http.openapi import problems
from app.http.reauthentication import LastingRequest
from app.http.rendering import BEGINNING, STILL_HERE, rendered
from app.jobs.waiter import Batch, JobWaiter, JobWaiterDependency, LastingRequestDependency
from relevance_bayes.types.errors import NotFoundError
from relevance_bayes.types.jobs import JOB_PATHS, NOUNS, Event, JobKind, Transition
from relevance_bayes.types.pages import Page

STILL_HERE_SECONDS = 15.0
"""Seconds without an event after which a stream sends a comment as a keep-alive."""

LOOK_AGAIN_SECONDS = 2.0
"""Seconds until a stream queries again after the database could not be reached."""

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
_STREAM = {
    "schema": {
        "type": "string",
        "description": "Each event's `id` is its number, its `event` its kind, its `data` an item of a page.",
    },
    "example": (
        BEGINNING + rendered(Event(2, _AT, "transition", transition=Transition("running", _AT, 1))) + STILL_HERE
    ).decode(),
}


class EventStream(StreamingResponse):
    """A stream whose source is closed also when the client disconnects."""

    def __init__(self, chunks: AsyncGenerator[bytes]) -> None:
        # Not cached, and not buffered by a proxy (nginx).
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(chunks, headers=headers, media_type=EVENT_STREAM)
        self._chunks = chunks

    async def stream_response(self, send: Send) -> None:
        """Send chunks as they come; the next one is requested once the last one has been sent."""
        async with aclosing(self._chunks):
            await super().stream_response(send)


def events_of(kind: JobKind, *, tag: str, summary: str) -> APIRouter:
    """Return the router for the events of jobs of a kind."""
    router = APIRouter(prefix=JOB_PATHS[kind], tags=[tag])

    @router.get(
        "/{job_id}/events",
        summary=summary,
        response_model=Page[Event],
        responses={
            200: {"description": "Events, as a page or a stream.", "content": {EVENT_STREAM: _STREAM}},
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
            seen = after if last_event_id is None else last_event_id
            first = await job_waiter.batch(owner, kind, job, seen)
            if first.is_end and not first.content:
                return Response(status_code=204)
            return EventStream(_rendered(job_waiter, lasting, owner, kind, job, first))
        found = await job_waiter.events(lasting, owner, kind, job, limit=limit + 1, after=after, wait=wait)
        shown = found[:limit]
        return Page.of(shown, str(shown[-1].number) if len(found) > limit else None)

    return router


async def _rendered(
    job_waiter: JobWaiter, request: LastingRequest, owner: str, kind: JobKind, job_id: UUID, batch: Batch
) -> AsyncGenerator[bytes]:
    """Stream events from the first batch on, until the job ends, the request's credential does, or this process shuts
    down."""
    yield BEGINNING
    with job_waiter.change_event(job_id) as rung:
        rung.set()  # something may have happened since the first query
        while True:
            if batch.content:
                yield batch.content
            if batch.is_end or job_waiter.watcher.is_stopped:
                return
            try:
                await request.check()
                if not batch.is_full and not await request.wait(rung, STILL_HERE_SECONDS):
                    yield STILL_HERE
                rung.clear()
                batch = await job_waiter.batch(owner, kind, job_id, batch.last)
            except (NotFoundError, UnauthenticatedError):  # it was deleted, or a new request would be refused
                return
            except UnavailableError:
                batch = Batch(b"", batch.last, is_end=False, is_full=False)
                yield STILL_HERE
                await anyio.sleep(LOOK_AGAIN_SECONDS)
                rung.set()
