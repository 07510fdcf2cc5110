"""Events of a job of any kind: as pages, or as a stream until its end."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import WithJsonSchema

from app.http.dependencies import Owner, identifier
from app.http.lists import Limit, Wait
from app.http.negotiation import EVENT_STREAM, prefers_events
from app.http.openapi import problems
from app.http.rendering import BEGINNING, keep_alive, rendered
from app.jobs.event_stream import EventStream, streamed
from app.jobs.records import Position
from app.jobs.waiter import JobWaiterDependency, LastingRequestDependency
from relevance_bayes.records.jobs import JOB_PATHS, NOUNS, Event, JobKind, Transition
from relevance_bayes.records.pages import Page

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
            return EventStream(streamed(job_waiter, lasting, job, first, read), job_waiter.waiting, owner)
        found = await job_waiter.events(lasting, owner, kind, job, limit=limit + 1, after=after, wait=wait)
        shown = found[:limit]
        return Page.of(shown, str(shown[-1].number) if len(found) > limit else None)

    return of_kind
