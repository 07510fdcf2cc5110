"""Training jobs: ask for one, look at it, wait for it, end it."""

from typing import Annotated
from uuid import UUID

import anyio
from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from app.api.bodies import read_strictly
from app.api.dependencies import JsonBody, Owner, PartsDependency, identifier
from app.api.documentation import json_body, problems
from app.api.idempotency import Key, named, once
from app.api.negotiation import AcceptsJson, media_type_of
from app.api.schemas.jobs import EventOut, TrainingJobOut, job_out
from app.api.schemas.pages import After, Limit, PageOut
from app.api.schemas.requests import TRAINING_JOB_IN
from app.domain.errors import InvalidRequestError
from app.domain.idempotency import KeptAnswer, Keyed
from app.domain.jobs import FINISHED, Event, JobState, TrainingJob
from app.services.training import Training

LONGEST_WAIT = 60.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 0.5

Wait = Annotated[
    float, Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait for something new before answering as it is.")
]

router = APIRouter(prefix="/v1/training-jobs", tags=["Training jobs"], dependencies=[AcceptsJson])


@router.post(
    "",
    status_code=202,
    summary="Ask for a training",
    response_model=TrainingJobOut,
    openapi_extra=json_body("TrainingJobIn"),
    responses=problems(400, 406, 404, 409, 413, 415, 422, 429),
)
def submit(request: Request, body: JsonBody, owner: Owner, parts: PartsDependency, key: Key) -> Response:
    """Queue a training. Only `dataset_id` and `target` have to be said; the job says what was chosen for the rest."""

    def create(keyed: Keyed[TrainingJob] | None) -> TrainingJob:
        asked = read_strictly(TRAINING_JOB_IN, body)
        try:
            return parts.training.submit(owner, asked.to_request(), priority=asked.priority, keyed=keyed)
        except InvalidRequestError as error:
            raise InvalidRequestError(error.detail, [asked.as_sent(fault) for fault in error.faults]) from error

    content_type = media_type_of(request.headers.get("content-type", "")).encode()
    return once(parts.idempotency, named(request, owner, key, content_type, body), _queued, create)


@router.post(
    "/{job_id}/retry",
    status_code=202,
    summary="Ask for a training again",
    response_model=TrainingJobOut,
    responses=problems(404, 406, 409, 422, 429),
)
def retry(request: Request, job_id: str, owner: Owner, parts: PartsDependency, key: Key) -> Response:
    """Queue a new job of the same request, with the same priority, once the first has ended, however it did."""
    first = identifier(job_id, "training job")

    def create(keyed: Keyed[TrainingJob] | None) -> TrainingJob:
        return parts.training.retry(owner, first, keyed=keyed)

    return once(parts.idempotency, named(request, owner, key), _queued, create)


def _queued(job: TrainingJob) -> KeptAnswer:
    headers = (("Location", f"/v1/training-jobs/{job.id}"), ("Content-Type", "application/json"))
    return KeptAnswer(202, headers, job_out(job).model_dump_json().encode())


@router.get("", summary="List trainings", responses=problems(422, 406))
def jobs(
    owner: Owner,
    parts: PartsDependency,
    limit: Limit = 20,
    after: After = None,
    state: Annotated[JobState | None, Query(description="Only jobs in this state.")] = None,
) -> PageOut[TrainingJobOut]:
    """Jobs, newest first."""
    page = parts.training.page(owner, limit=limit, after=after, state=state)
    return PageOut.of([job_out(job) for job in page.items], page.next)


@router.get("/{job_id}", summary="Look at a training, or wait for it", responses=problems(404, 406, 422))
async def job(job_id: str, owner: Owner, parts: PartsDependency, wait: Wait = 0) -> TrainingJobOut:
    """A job; with `wait`, when it has ended or after so many seconds, whichever comes first."""
    found = await _when_ended(parts.training, owner, identifier(job_id, "training job"), wait)
    return job_out(found)


@router.get("/{job_id}/events", summary="What happened to a training", responses=problems(404, 406, 422))
async def events(
    job_id: str,
    owner: Owner,
    parts: PartsDependency,
    limit: Limit = 100,
    after: Annotated[int, Query(ge=0, description="Only events with greater numbers.")] = 0,
    wait: Wait = 0,
) -> PageOut[EventOut]:
    """Transitions and progress, in their order; with `wait`, as soon as there is one after `after`."""
    found = await _when_any(parts.training, owner, identifier(job_id, "training job"), limit + 1, after, wait)
    shown = found[:limit]
    return PageOut.of([EventOut.of(event) for event in shown], str(shown[-1].number) if len(found) > limit else None)


@router.post("/{job_id}/cancel", status_code=202, summary="End a training", responses=problems(404, 406, 409))
def cancel(job_id: str, owner: Owner, parts: PartsDependency) -> TrainingJobOut:
    """Ask for a job's end: one that waits ends at once, one that runs within a second or so.

    A cancelled job may be cancelled again; of one that succeeded or failed a 409 says since when.
    """
    return job_out(parts.training.cancel(owner, identifier(job_id, "training job")))


async def _when_ended(training: Training, owner: str, job_id: UUID, wait: float) -> TrainingJob:
    """Look till the job has ended or the time is over; no thread is held in between, however many wait."""
    deadline, pause = anyio.current_time() + wait, _FIRST_PAUSE
    while True:
        job = await run_in_threadpool(training.get, owner, job_id)
        left = deadline - anyio.current_time()
        if job.state in FINISHED or left <= 0:
            return job
        await anyio.sleep(min(pause, left))
        pause = min(pause * 1.3, _LONGEST_PAUSE)


async def _when_any(
    training: Training, owner: str, job_id: UUID, limit: int, after: int, wait: float
) -> tuple[Event, ...]:
    """Look till there are events or the time is over."""
    deadline, pause = anyio.current_time() + wait, _FIRST_PAUSE
    while True:
        events = await run_in_threadpool(training.events, owner, job_id, limit=limit, after=after)
        left = deadline - anyio.current_time()
        if events or left <= 0:
            return events
        await anyio.sleep(min(pause, left))
        pause = min(pause * 1.3, _LONGEST_PAUSE)
