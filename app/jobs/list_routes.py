"""Jobs of all kinds in one list, and their changes as one stream."""

from dataclasses import replace
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from pydantic import WithJsonSchema
from starlette.responses import StreamingResponse

from app.http.dependencies import Owner, ServicesDependency
from app.http.negotiation import EVENT_STREAM, AcceptsJson, require_events_accept
from app.http.openapi import problems
from app.http.rendering import BEGINNING, STILL_HERE, position
from app.jobs.event_stream import EventStream, streamed
from app.jobs.records import changes_id
from app.jobs.schemas import MAX_CHANGE, AllJobsQuery, JobChangesQuery, job_summary
from app.jobs.service import Jobs
from app.jobs.waiter import JobWaiterDependency, LastingRequestDependency
from relevance_bayes.types.errors import Fault, InvalidRequestError
from relevance_bayes.types.jobs import JobPage

TAG = "Jobs"
router = APIRouter(prefix="/v1/jobs", tags=[TAG])

LastChange = Annotated[
    int | None,
    Header(
        alias="Last-Event-ID",
        ge=0,
        le=MAX_CHANGE,
        description="The id of the last message received. Takes precedence over `after`.",
    ),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MAX_CHANGE}),
]

_STREAM = {
    "schema": {
        "type": "string",
        "description": "Messages `job`: their `data` is an item of the list, their `id` the number of its last change.",
    },
    "example": (BEGINNING + position(41) + STILL_HERE).decode(),
}


@router.get("", summary="List jobs of all kinds", dependencies=[AcceptsJson], responses=problems(422, 406))
def jobs(owner: Owner, services: ServicesDependency, query: Annotated[AllJobsQuery, Query()]) -> JobPage:
    """List training jobs, evaluations, promotions and batch predictions by age, with the number of jobs by state.

    Items have no request and no result: get these at the item's `path`. `GET /v1/jobs/events` streams what changes
    after the page.
    """
    found = services[Jobs].summaries(owner, query.part, which=query.filter)
    items = tuple(map(job_summary, found.page.items))
    after = found.page.next
    return JobPage(items, after is not None, after, found.counts, found.last_change)


@router.get(
    "/events",
    summary="Stream the changes of jobs of all kinds",
    response_class=StreamingResponse,
    responses={
        200: {"description": "A stream that does not end by itself.", "content": {EVENT_STREAM: _STREAM}},
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
    Credentials are checked as for the events of one job. 422 where the number is of a database that was replaced, such
    as by a backup: get the list again.
    """
    require_events_accept(request.headers.getlist("accept"))
    seen = query.after if last_event_id is None else last_event_id
    last = await job_waiter.last_change(owner)
    if seen is not None and seen > last:
        detail = f"Expected the number of a change up to {last}, got {seen}: get the list of jobs again."
        place = Fault(detail, parameter="after") if last_event_id is None else Fault(detail, header="Last-Event-ID")
        raise InvalidRequestError(detail, [place])
    read = partial(job_waiter.changes, owner, query.filter)
    first = await read(last if seen is None else seen)
    first = replace(first, content=first.content or position(first.last))
    return EventStream(streamed(job_waiter, lasting, changes_id(owner), first, read))
