"""The routes of training jobs and of versions, each with the members of its task."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.http.bodies import read_strictly
from app.http.conditional_requests import (
    NOT_MODIFIED,
    REVALIDATED,
    TAGGED,
    RemovalCondition,
    changed_response,
    conditional_response,
    tag_of,
)
from app.http.dependencies import JsonBody, Owner, ServicesDependency, identifier
from app.http.idempotency import Idempotency, Key, named, once
from app.http.idempotency_records import Keyed
from app.http.lists import VersionsQuery, Wait
from app.http.negotiation import AcceptsJson, media_type_of, to_json
from app.http.openapi import json_body, problems
from app.http.references import ModelName, VersionReference
from app.jobs.records import Job
from app.jobs.schemas import JobsQuery, queued_response
from app.jobs.service import JobService
from app.jobs.waiter import JobWaiterDependency, LastingRequestDependency
from app.registry.annotations import ANNOTATION_IN
from app.registry.catalogue import Catalogue
from app.registry.records import Version
from app.registry.service import Annotations
from app.registry.trainings import TRAINING
from app.tasks.responses import training_job, version_record
from app.tasks.service import TrainingService
from relevance_bayes.records import versions as records
from relevance_bayes.records.json import Page
from relevance_bayes.records.trainings import KnownJob

router = APIRouter(prefix="/v1/training-jobs", tags=["Training jobs"], dependencies=[AcceptsJson])


QUEUED = partial(queued_response, training_job)


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
    return once(services[Idempotency], named(request, owner, key, content_type, body), QUEUED, create)


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

    return once(services[Idempotency], named(request, owner, key), QUEUED, create)


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


version_router = APIRouter(prefix="/v1/models", tags=["Models"], dependencies=[AcceptsJson])


@version_router.get("/{name}/versions", summary="List versions", responses=problems(404, 406, 422))
def versions(
    name: ModelName, owner: Owner, services: ServicesDependency, query: Annotated[VersionsQuery, Query()]
) -> Page[records.KnownVersion]:
    """List a model's versions by age."""
    page = services[Catalogue].versions(owner, name, query.part, tags=query.tags)
    return Page.of([version_record(version) for version in page.items], page.next)


@version_router.get(
    "/{name}/versions/{version}",
    summary="Get a version",
    response_model=records.KnownVersion,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406)},
)
def version(reference: VersionReference, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Get a version: the result of a training, with its description and tags."""
    found = services[Catalogue].version(owner, reference)
    return conditional_response(request, _version_bytes(found), cache_control=REVALIDATED)


@version_router.patch(
    "/{name}/versions/{version}",
    summary="Update a version's annotation",
    response_model=records.KnownVersion,
    openapi_extra=json_body("AnnotationIn"),
    responses={200: TAGGED, **problems(400, 404, 406, 412, 413, 415, 422)},
)
def annotate_version(
    reference: VersionReference, body: JsonBody, owner: Owner, services: ServicesDependency, condition: RemovalCondition
) -> Response:
    """Change a version's description and tags by a JSON merge patch; all other members are immutable."""
    patch = read_strictly(ANNOTATION_IN, body)
    changed = services[Annotations].of_version(
        owner, reference, patch, tag=lambda version: tag_of(_version_bytes(version)), condition=condition
    )
    return changed_response(_version_bytes(changed))


def _version_bytes(version: Version) -> bytes:
    return to_json(version_record(version))
