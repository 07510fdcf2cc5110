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
from app.http.rendering import BEGINNING, keep_alive
from app.jobs.event_stream import EventStream, streamed
from app.jobs.records import Position, changes_id
from app.jobs.schemas import POSITION_PATTERN, AllJobsQuery, JobChangesQuery, job_summary
from app.jobs.service import Jobs
from app.jobs.waiter import JobWaiterDependency, LastingRequestDependency
from relevance_bayes.records.errors import Fault, InvalidRequestError, NotFoundError
from relevance_bayes.records.jobs import JobPage

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
    found = services[Jobs].summaries(owner, query.part, which=query.filter, counts=query.counts)
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
    return EventStream(stream, job_waiter.waiting, owner)
