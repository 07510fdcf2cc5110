"""Batch predictions: a version's predictions for a whole dataset, as a file."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from app.formats import BATCH_FORMATS
from app.formats import named as format_named
from app.http.authentication import READING
from app.http.bodies import read_strictly
from app.http.conditional_requests import NOT_MODIFIED, UNCHANGING, is_known
from app.http.dependencies import JsonBody, Owner, ServicesDependency, identifier, principal_of
from app.http.idempotency import Idempotency, Key, named, once
from app.http.idempotency_records import Keyed, StoredResponse
from app.http.lists import Wait
from app.http.negotiation import AcceptsJson, accepts, media_type_of
from app.http.openapi import json_body, problems
from app.http.origins import actor_of
from app.http.ranges import ByteRange, UnsatisfiableRange, requested_range
from app.http.rendering import to_json
from app.jobs.records import Job, no_such_job
from app.jobs.schemas import ScoringsQuery
from app.jobs.service import JobService
from app.jobs.waiter import JobWaiterDependency, LastingRequestDependency
from app.prediction.batch_jobs import BATCH_PREDICTION_IN, PREDICTION, batch_prediction_record
from app.prediction.batch_service import BatchPredictionService
from relevance_bayes.records.batch_predictions import BatchPrediction
from relevance_bayes.records.keys import KeyScope
from relevance_bayes.records.pages import Page

TAG = "Batch predictions"
NOUN = "batch prediction"


async def _only_own(request: Request, services: ServicesDependency) -> None:
    """Raise NotFoundError for a batch prediction that a key, token or session which may predict alone has not
    submitted itself."""
    job_id, principal = request.path_params.get("job_id"), principal_of(request)
    needed: KeyScope = "read" if request.method in READING else "train"
    if job_id is None or principal.has_any((needed,)):
        return
    given, actor = identifier(job_id, NOUN), actor_of(principal)[1]
    job = await run_in_threadpool(services[JobService].get, principal.owner, given, kind="prediction")
    if actor is None or job.submitted_with != actor or job.submitted_by != principal.credential.owner:
        raise no_such_job(given, "prediction")


router = APIRouter(prefix="/v1/batch-predictions", tags=[TAG], dependencies=[AcceptsJson, Depends(_only_own)])
files = APIRouter(prefix="/v1/batch-predictions", tags=[TAG], dependencies=[Depends(_only_own)])

_HEADERS = {
    "ETag": {"schema": {"type": "string"}, "description": "The same for as long as the file is there."},
    "Accept-Ranges": {"schema": {"type": "string"}, "description": "`bytes`: request a part with `Range`."},
    "Content-Disposition": {"schema": {"type": "string"}, "description": "The file's name."},
}
_FILES = {one.media_type: {"schema": {"type": "string", "format": "binary"}} for one in BATCH_FORMATS}


@router.post(
    "",
    status_code=202,
    summary="Create a batch prediction",
    response_model=BatchPrediction,
    openapi_extra=json_body("BatchPredictionIn"),
    responses=problems(400, 406, 404, 413, 415, 422, 429),
)
def submit(request: Request, body: JsonBody, owner: Owner, services: ServicesDependency, key: Key) -> Response:
    """Queue predictions for all rows of a dataset, which become a file to be downloaded.

    The columns of the file are those of predictions in its format. Each attempt of the job continues where the one
    before it ended, and the file is the same byte for byte.
    """

    def create(keyed: Keyed[Job] | None) -> Job:
        return services[BatchPredictionService].submit(owner, read_strictly(BATCH_PREDICTION_IN, body), keyed=keyed)

    content_type = media_type_of(request.headers.get("content-type", "")).encode()
    return once(services[Idempotency], named(request, owner, key, content_type, body), _queued, create)


@router.post(
    "/{job_id}/retry",
    status_code=202,
    summary="Retry a batch prediction",
    response_model=BatchPrediction,
    responses=problems(404, 406, 409, 422, 429),
)
def retry(request: Request, job_id: str, owner: Owner, services: ServicesDependency, key: Key) -> Response:
    """Queue a new job with the same request once the first has ended; an alias is resolved again."""
    first = identifier(job_id, NOUN)

    def create(keyed: Keyed[Job] | None) -> Job:
        return services[BatchPredictionService].retry(owner, first, keyed=keyed)

    return once(services[Idempotency], named(request, owner, key), _queued, create)


def _queued(job: Job) -> StoredResponse:
    headers = (("Location", job.path), ("Content-Type", "application/json"))
    return StoredResponse(202, headers, to_json(batch_prediction_record(job)))


@router.get("", summary="List batch predictions", responses=problems(422, 406))
def batch_predictions(
    owner: Owner,
    services: ServicesDependency,
    query: Annotated[ScoringsQuery, Query()],
) -> Page[BatchPrediction]:
    """List batch predictions by age."""
    page = services[JobService].page(owner, query.part, which=query.which("prediction"))
    return Page.of([batch_prediction_record(job) for job in page.items], page.next)


@router.get("/{job_id}", summary="Get a batch prediction, or wait for its end", responses=problems(404, 406, 422))
async def batch_prediction(
    job_id: str, owner: Owner, job_waiter: JobWaiterDependency, request: LastingRequestDependency, wait: Wait = 0
) -> BatchPrediction:
    """Get a batch prediction; `wait` waits for its end, at most so many seconds."""
    return batch_prediction_record(await job_waiter.ended(request, owner, "prediction", identifier(job_id, NOUN), wait))


@router.post(
    "/{job_id}/cancel", status_code=202, summary="Cancel a batch prediction", responses=problems(404, 406, 409)
)
def cancel(job_id: str, owner: Owner, services: ServicesDependency) -> BatchPrediction:
    """Cancel a batch prediction: a queued one ends at once, a running one within about a second."""
    return batch_prediction_record(services[JobService].cancel(owner, identifier(job_id, NOUN), kind="prediction"))


@router.delete(
    "/{job_id}", status_code=204, summary="Delete a batch prediction and its file", responses=problems(404, 406, 409)
)
def remove(job_id: str, owner: Owner, services: ServicesDependency) -> None:
    """Delete a batch prediction that has ended, with its file, which would be removed at a certain age."""
    services[BatchPredictionService].remove(owner, identifier(job_id, NOUN))


@files.get(
    "/{job_id}/result",
    summary="Download the file of a batch prediction",
    response_class=Response,
    responses={
        200: {"description": "The file.", "headers": _HEADERS, "content": _FILES},
        206: {"description": "The part that `Range` requests.", "content": _FILES},
        304: NOT_MODIFIED,
        **problems(404, 406, 409, 410, 416),
    },
)
def result(job_id: str, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Return the file of a batch prediction that has succeeded, or a part of it, for as long as it is kept.

    An interrupted download is resumed by `Range: bytes=N-`, and `If-Range` with the `ETag` of the first response.
    """
    job, size = services[BatchPredictionService].size(owner, identifier(job_id, NOUN))
    requested, _ = PREDICTION.read(job)
    written = format_named(BATCH_FORMATS, requested.format)
    media_type = written.media_type
    if not accepts(request.headers.get("accept"), media_type):
        raise HTTPException(406, f"The file is {media_type}, which the Accept header does not allow.")
    # What a job has made never changes, and never stands for another one's.
    tag = f'"{job.id}"'
    headers = {
        "ETag": tag,
        "Accept-Ranges": "bytes",
        "Cache-Control": UNCHANGING,
        "Content-Disposition": f'attachment; filename="predictions-{job.id}{written.suffixes[0]}"',
    }
    if is_known(request, tag):
        return Response(status_code=304, headers=headers)
    requested_for = requested_range(request.headers, size=size, tag=tag)
    if isinstance(requested_for, UnsatisfiableRange):
        reported = {"Content-Range": requested_for.reported}
        raise HTTPException(416, f"The file has {size} bytes, and none of the requested range.", reported)
    if requested_for is not None:
        headers["Content-Range"] = requested_for.reported
    extent = requested_for or ByteRange(0, size - 1, size)
    headers["Content-Length"] = str(extent.length)
    content = services[BatchPredictionService].content(job.id, extent.first, extent.last)
    return StreamingResponse(content, 206 if requested_for else 200, headers, media_type)
