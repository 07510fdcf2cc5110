"""The routes of training jobs."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.http.bodies import read_strictly
from app.http.dependencies import JsonBody, Owner, ServicesDependency, identifier
from app.http.idempotency import Idempotency, Key, named, once
from app.http.idempotency_records import Keyed, StoredResponse
from app.http.lists import Wait
from app.http.negotiation import AcceptsJson, media_type_of
from app.http.openapi import json_body, problems
from app.http.rendering import to_json
from app.jobs.records import Job
from app.jobs.schemas import JobsQuery
from app.jobs.service import JobService
from app.jobs.waiter import JobWaiterDependency, LastingRequestDependency
from app.registry.trainings import TRAINING
from app.tasks.responses import training_job
from app.tasks.service import TrainingService
from relevance_bayes.records.pages import Page
from relevance_bayes.records.trainings import KnownJob

router = APIRouter(prefix="/v1/training-jobs", tags=["Training jobs"], dependencies=[AcceptsJson])


@router.post(
    "",
    status_code=202,
    summary="Create a training job",
    response_model=KnownJob,
    openapi_extra=json_body("TrainingRequest"),
    responses=problems(400, 406, 404, 409, 413, 415, 422, 429),
)
def submit(request: Request, body: JsonBody, owner: Owner, services: ServicesDependency, key: Key) -> Response:
    """Queue a training. Only `dataset_id` and `target` are required; the job has the values chosen for all others."""

    def create(keyed: Keyed[Job] | None) -> Job:
        return services[TrainingService].submit(owner, read_strictly(TRAINING.request.adapter, body), keyed=keyed)

    content_type = media_type_of(request.headers.get("content-type", "")).encode()
    return once(services[Idempotency], named(request, owner, key, content_type, body), _queued, create)


@router.post(
    "/{job_id}/retry",
    status_code=202,
    summary="Retry a training job",
    response_model=KnownJob,
    responses=problems(404, 406, 409, 422, 429),
)
def retry(request: Request, job_id: str, owner: Owner, services: ServicesDependency, key: Key) -> Response:
    """Queue a new job with the same request and priority once the first has ended, however it ended."""
    first = identifier(job_id, "training job")

    def create(keyed: Keyed[Job] | None) -> Job:
        return services[TrainingService].retry(owner, first, keyed=keyed)

    return once(services[Idempotency], named(request, owner, key), _queued, create)


def _queued(job: Job) -> StoredResponse:
    headers = (("Location", job.path), ("Content-Type", "application/json"))
    return StoredResponse(202, headers, to_json(training_job(job)))


@router.get("", summary="List training jobs", responses=problems(422, 406))
def jobs(
    owner: Owner,
    services: ServicesDependency,
    query: Annotated[JobsQuery, Query()],
) -> Page[KnownJob]:
    """List training jobs by age."""
    page = services[JobService].page(owner, query.part, which=query.which("training"))
    return Page.of([training_job(job) for job in page.items], page.next)


@router.get("/{job_id}", summary="Get a training job, or wait for its end", responses=problems(404, 406, 422))
async def job(
    job_id: str, owner: Owner, job_waiter: JobWaiterDependency, request: LastingRequestDependency, wait: Wait = 0
) -> KnownJob:
    """Get a job; `wait` waits for its end, at most so many seconds."""
    return training_job(await job_waiter.ended(request, owner, "training", identifier(job_id, "training job"), wait))


@router.post("/{job_id}/cancel", status_code=202, summary="Cancel a training job", responses=problems(404, 406, 409))
def cancel(job_id: str, owner: Owner, services: ServicesDependency) -> KnownJob:
    """Cancel a job: a queued one ends at once, a running one within about a second.

    To cancel a cancelled job again has no effect; for one that succeeded or failed the response is a 409.
    """
    return training_job(services[JobService].cancel(owner, identifier(job_id, "training job"), kind="training"))
