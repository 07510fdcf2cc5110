"""Routes of predictions, the hot path: what the framework does for others would cost more; of batches and versions."""

from dataclasses import fields
from datetime import datetime
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.errors import TooLargeError
from app.formats import BATCH_FORMATS, ROW_FORMATS, WRITABLE_FORMATS, listed
from app.formats import named as format_named
from app.formats.cells import refuse
from app.formats.images import image_bytes
from app.formats.json_body import check_containers
from app.formats.json_table import read_json, typed_block
from app.http.authentication import READING
from app.http.bodies import MAX_MEMBERS, LargeBody, checked, read_strictly
from app.http.conditional_requests import NOT_MODIFIED, REVALIDATED, TAGGED, UNCHANGING, conditional_response, is_known
from app.http.dependencies import JsonBody, Owner, ServicesDependency, identifier, principal_of
from app.http.disconnection import run_for_client
from app.http.fast_path import FastPath, RawRoute, documented, reference_of
from app.http.idempotency import Idempotency, Key, named, once
from app.http.idempotency_records import Keyed
from app.http.lists import Wait
from app.http.negotiation import AcceptsJson, accepts, image_media_type, media_type_of, to_json
from app.http.openapi import IMAGE_CONTENT, contents, json_body, problems
from app.http.origins import actor_of
from app.http.ranges import ByteRange, UnsatisfiableRange, requested_range
from app.http.rate_limits import check_rows
from app.http.references import VersionReference
from app.jobs.records import Job, no_such_job
from app.jobs.schemas import ScoringsQuery, queued_response
from app.jobs.service import JobService
from app.jobs.waiter import JobWaiterDependency, LastingRequestDependency
from app.prediction.batch_jobs import BATCH_PREDICTION_IN, PREDICTION, BatchPredictionService, batch_prediction_record
from app.prediction.json_codec import JsonCodec, max_containers
from app.prediction.line_streaming import stream_lines
from app.prediction.predict import ServedVersion
from app.prediction.profile import profile, require_profile
from app.prediction.runner import Codec, DeferredCodec, PredictionRunner, runner_of
from app.prediction.schemas import PredictionsOut, query_parameters
from app.prediction.served_versions import ServedVersions
from app.prediction.table_codec import ContentNegotiation, TableCodec, response_of, version_link
from app.prediction.usage_counts import BOUNDS, Counted
from app.registry.catalogue import Catalogue
from app.registry.records import Version
from relevance_bayes.records.accounts import KeyScope
from relevance_bayes.records.batch_predictions import BatchPrediction
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.functions import Expansion
from relevance_bayes.records.json import Page
from relevance_bayes.records.models import Reference
from relevance_bayes.records.predictions import MAX_ROWS, Profile, ProfileIn, ProfileOptionsIn
from relevance_bayes.records.statistics import Latency, LatencyBucket, OutsideSupport, Statistics
from relevance_bayes.tables.columns import Block, block_rows
from relevance_bayes.tasks.images.report import ImageModel
from relevance_bayes.tasks.prediction import VersionExpansion

JSON = b"application/json"
_NEGOTIATED = frozenset({b"accept", b"content-type", b"content-encoding"})
MODELS = "/v1/models"
_SENT = (b"content-type", JSON)
_ANYTHING = ((b"accept", b"*/*"), (b"accept", JSON))
_USUAL = ([_SENT], *([accept, _SENT] for accept in _ANYTHING), *([_SENT, accept] for accept in _ANYTHING))
"""The negotiating headers of JSON for JSON as nearly all send them."""

_BODY: dict[str, object] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/PredictIn"}},
            **contents(ROW_FORMATS),
        },
    }
}


_DESCRIPTION = f"""One prediction for each row of a table, in their order.

Rows come as {listed(ROW_FORMATS)}, and predictions are sent as {listed(WRITABLE_FORMATS)}, by Accept;
NDJSON for NDJSON is streamed line by line. Bodies may be compressed with gzip, deflate or zstd. The newest version
predicts; `model@alias` is the version to which the alias points. A newer version, and a move of an alias, takes effect
within a second."""

_RESPONSES: dict[int | str, dict[str, object]] = {
    200: {"content": contents(WRITABLE_FORMATS)},
    **problems(400, 406, 404, 413, 415, 422),
}


router = APIRouter(prefix=MODELS, tags=["Predictions"], route_class=RawRoute)


@router.post(
    "/{name}/predict",
    summary="Predict with the newest version, or an alias",
    description=_DESCRIPTION,
    response_model=PredictionsOut,
    openapi_extra=documented("name@alias", body=_BODY, query=query_parameters()),
    responses=_RESPONSES,
)
async def predict(request: Request) -> Response:
    """One prediction for each row of a table, in their order, by the newest version or the one an alias points to."""
    return await _respond(request)


@router.post(
    "/{name}/versions/{version}/predict",
    summary="Predict with one version",
    response_model=PredictionsOut,
    openapi_extra=documented("name", "version", body=_BODY, query=query_parameters()),
    responses=_RESPONSES,
)
async def predict_by_version(request: Request) -> Response:
    """Return one prediction for each row of a table, in their order; the same rows always have the same predictions."""
    return await _respond(request)


async def _respond(request: Request) -> Response:
    found = await _predicted(request.scope, request.receive, runner_of(request))
    return found if isinstance(found, Response) else Response(found, media_type="application/json")


async def _predicted(scope: Scope, receive: Receive, runner: PredictionRunner) -> Response | bytes:
    """The response, of a short one in JSON for JSON its body."""
    owner, reference = scope["state"]["principal"].owner, reference_of(scope)
    headers = [header for header in scope["headers"] if header[0] in _NEGOTIATED]
    if headers in _USUAL:
        body = await runner.bodies.receive(receive)
        try:
            served = await runner.served(owner, reference)
            content = runner.content(*await runner.predict(served, _json_codec(body, runner.max_rows), receive))
        finally:
            if not isinstance(body, bytes):
                body.close()
        return content if isinstance(content, bytes) else response_of(content, "application/json")
    request = Request(scope, receive)
    negotiated = ContentNegotiation.of(request)
    if negotiated.is_by_lines:
        return await stream_lines(request, runner, await runner.served(owner, reference), negotiated)
    body = await runner.bodies.receive(receive)
    try:
        served = await runner.served(owner, reference)
        content = runner.content(*await runner.predict(served, _table_codec(body, negotiated, runner), receive))
    finally:
        if not isinstance(body, bytes):
            body.close()
    return response_of(content, negotiated.response.media_type, version_link(served))


def _json_codec(body: bytes | LargeBody, max_rows: int) -> Codec[bytes]:
    if isinstance(body, bytes):
        return JsonCodec(body, max_rows)
    return DeferredCodec(body, lambda content: JsonCodec(content, max_rows))


def _table_codec(body: bytes | LargeBody, negotiated: ContentNegotiation, runner: PredictionRunner) -> Codec[bytes]:
    if isinstance(body, bytes):
        return TableCodec(body, negotiated, runner.max_rows, runner.max_bytes)
    return DeferredCodec(body, lambda content: TableCodec(content, negotiated, runner.max_rows, runner.max_bytes))


def fast_path(runner: PredictionRunner) -> FastPath:
    """Predict calls past the framework."""

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        found = await _predicted(scope, receive, runner)
        if isinstance(found, Response):
            await found(scope, receive, send)
            return
        headers = [(b"content-length", b"%d" % len(found)), (b"content-type", JSON)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": found})

    return FastPath(MODELS, "predict", respond)


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


batch_router = APIRouter(prefix="/v1/batch-predictions", tags=[TAG], dependencies=[AcceptsJson, Depends(_only_own)])
batch_files = APIRouter(prefix="/v1/batch-predictions", tags=[TAG], dependencies=[Depends(_only_own)])

QUEUED = partial(queued_response, batch_prediction_record)

_HEADERS = {
    "ETag": {"schema": {"type": "string"}, "description": "The same for as long as the file is there."},
    "Accept-Ranges": {"schema": {"type": "string"}, "description": "`bytes`: request a part with `Range`."},
    "Content-Disposition": {"schema": {"type": "string"}, "description": "The file's name."},
}
_FILES = {one.media_type: {"schema": {"type": "string", "format": "binary"}} for one in BATCH_FORMATS}


@batch_router.post(
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
    return once(services[Idempotency], named(request, owner, key, content_type, body), QUEUED, create)


@batch_router.post(
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

    return once(services[Idempotency], named(request, owner, key), QUEUED, create)


@batch_router.get("", summary="List batch predictions", responses=problems(422, 406))
def batch_predictions(
    owner: Owner,
    services: ServicesDependency,
    query: Annotated[ScoringsQuery, Query()],
) -> Page[BatchPrediction]:
    """List batch predictions by age."""
    page = services[JobService].page(owner, query.part, which=query.which("prediction"))
    return Page.of([batch_prediction_record(job) for job in page.items], page.next)


@batch_router.get("/{job_id}", summary="Get a batch prediction, or wait for its end", responses=problems(404, 406, 422))
async def batch_prediction(
    job_id: str, owner: Owner, job_waiter: JobWaiterDependency, request: LastingRequestDependency, wait: Wait = 0
) -> BatchPrediction:
    """Get a batch prediction; `wait` waits for its end, at most so many seconds."""
    return batch_prediction_record(await job_waiter.ended(request, owner, "prediction", identifier(job_id, NOUN), wait))


@batch_router.post(
    "/{job_id}/cancel", status_code=202, summary="Cancel a batch prediction", responses=problems(404, 406, 409)
)
def cancel(job_id: str, owner: Owner, services: ServicesDependency) -> BatchPrediction:
    """Cancel a batch prediction: a queued one ends at once, a running one within about a second."""
    return batch_prediction_record(services[JobService].cancel(owner, identifier(job_id, NOUN), kind="prediction"))


@batch_router.delete(
    "/{job_id}", status_code=204, summary="Delete a batch prediction and its file", responses=problems(404, 406, 409)
)
def remove(job_id: str, owner: Owner, services: ServicesDependency) -> None:
    """Delete a batch prediction that has ended, with its file, which would be removed at a certain age."""
    services[BatchPredictionService].remove(owner, identifier(job_id, NOUN))


@batch_files.get(
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


profile_router = APIRouter(prefix="/v1/models", tags=["Predictions"], dependencies=[AcceptsJson])

PROFILE_IN: TypeAdapter[ProfileIn] = TypeAdapter(ProfileIn)
"""The three forms of a table, only for OpenAPI."""
_OPTIONS: TypeAdapter[ProfileOptionsIn] = TypeAdapter(ProfileOptionsIn)
_OPTION_NAMES = frozenset(one.name for one in fields(ProfileOptionsIn))


@profile_router.post(
    "/{name}/versions/{version}/profile",
    summary="Get the effect of inputs on predictions",
    response_model=Profile,
    openapi_extra=json_body("ProfileIn"),
    responses=problems(400, 404, 406, 413, 415, 422),
)
async def profile_of_inputs(
    reference: VersionReference, body: JsonBody, owner: Owner, services: ServicesDependency, request: Request
) -> Response:
    """Average the predictions over rows that all have the same value of an input, for each of its values: partial
    dependence, with the uncertainty of the average.

    The rows are those of the table, at most 500, in the forms of predictions: send a sample of the rows that the model
    is for. Of two inputs the average is for each pair of values. Points times rows are at most 25,000, and count as so
    many predicted rows; a row with missing values counts as 64.
    """
    content = await run_for_client(request.receive, _json, services[ServedVersions], owner, reference, body)
    return Response(content, media_type="application/json")


def _json(versions: ServedVersions, owner: str, reference: Reference, body: bytes) -> bytes:
    """Return the response; raises NotFoundError, RateLimitError, errors of the body."""
    check_rows()
    served = versions.version(owner, *reference)
    options, block = _read(served, body)
    return to_json(profile(served, options, block))


def _read(served: ServedVersion, body: bytes) -> tuple[ProfileOptionsIn, Block]:
    """Return the options and the table."""
    limit = max_containers(MAX_ROWS)
    check_containers(body, limit)
    raw = read_json(
        body, max_columns=max(MAX_MEMBERS, 2 * len(served.columns)), others=_OPTION_NAMES, max_containers=limit
    )
    options = checked(_OPTIONS, raw.others)
    require_profile(served, options)
    block, faults = typed_block(raw, served.columns, not_read=served.not_read)
    if (rows := block_rows(block)) > MAX_ROWS:
        raise TooLargeError(f"Expected at most {MAX_ROWS} rows, got {rows:,}: send a sample of them.")
    refuse(faults)
    return options, block


Functions = Annotated[
    int | None,
    Query(
        ge=1,
        le=2**31,
        description="The number of functions: the constant and those with the largest weights, by default all.",
    ),
]

version_router = APIRouter(prefix="/v1/models", tags=["Predictions"])


@version_router.get(
    "/{name}/versions/{version}/expansion",
    summary="Get a version as a sum of Gaussians",
    response_model=Expansion,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406, 409)},
    dependencies=[AcceptsJson],
)
def expansion(reference: VersionReference, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Return the mean as a function of the inputs in the user's units, for other programs or an approximation of it.

    Of two classes it is the latent function. A version has one if its functions are Gaussians and a bias, and its
    inputs are numbers without a warp.
    """
    content = to_json(_expansion_record(services[ServedVersions].version(owner, *reference).model.expansion()))
    return conditional_response(request, content, cache_control=_kept(reference))


@version_router.get(
    "/{name}/versions/{version}/image",
    summary="Get the image of a version",
    response_class=Response,
    responses={
        200: {"description": "All pixels.", "content": IMAGE_CONTENT, **TAGGED},
        304: NOT_MODIFIED,
        **problems(404, 406),
    },
)
def image(
    reference: VersionReference,
    owner: Owner,
    services: ServicesDependency,
    request: Request,
    functions: Functions = None,
) -> Response:
    """Return all pixels of an image's code as PNG or, if `Accept` prefers it, as npy, which is exact.

    A PNG has 8 bits: from black at 0 to white at 1 if the image's intensities were from 0 to 1, else over its own
    range.
    """
    media_type = image_media_type(request.headers.get("accept"))
    served = services[ServedVersions].version(owner, *reference)
    model = served.model
    if not isinstance(model, ImageModel):
        raise NotFoundError(f"Version {served.version.number} of model {reference.model!r} has no image.")
    content = image_bytes(model.image(functions), media_type, peak=model.peak)
    return conditional_response(request, content, cache_control=_kept(reference), media_type=media_type, vary="Accept")


def _kept(reference: Reference) -> str:
    return UNCHANGING if reference.is_exact else REVALIDATED


statistics_router = APIRouter(prefix="/v1/models", tags=["Models"], dependencies=[AcceptsJson])


@statistics_router.get(
    "/{name}/versions/{version}/statistics",
    summary="Get the usage statistics of a version",
    responses=problems(404, 406),
)
def statistics(reference: VersionReference, owner: Owner, services: ServicesDependency) -> Statistics:
    """Return requests, rows, errors and times since the start of this process; each API process counts its own."""
    found, counters = services[Catalogue].version(owner, reference), services[ServedVersions].counters
    return _statistics_record(found, counters.since, counters.until_now(found))


def _expansion_record(expansion: VersionExpansion) -> Expansion:
    """Return an expansion for a response."""
    return Expansion(
        inputs=expansion.inputs,
        centres=tuple(map(tuple, expansion.centres.tolist())),
        widths=tuple(map(tuple, expansion.widths.tolist())),
        weights=tuple(expansion.weights.tolist()),
        constant=expansion.constant,
    )


def _statistics_record(version: Version, since: datetime, counted: Counted) -> Statistics:
    """Return counts for a response."""
    outside: OutsideSupport | None = None
    if counted.placed:
        share = counted.outside / counted.placed
        outside = OutsideSupport(rows=counted.outside, of=counted.placed, share=share)
    buckets = tuple(
        LatencyBucket(upper_bound=bound, requests=requests)
        for bound, requests in zip((*BOUNDS, None), counted.succeeded, strict=True)
    )
    return Statistics(
        model=version.model,
        version=version.number,
        since=since,
        last_request_at=counted.last_at,
        requests=counted.requests,
        errors=counted.failed,
        rows=counted.rows,
        outside_support=outside,
        latency=Latency(seconds=counted.succeeded_ns / 1e9, buckets=buckets),
    )
