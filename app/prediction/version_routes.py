"""Routes of a version besides predictions: its expansion, its image and its usage statistics."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.formats.images import image_bytes
from app.http.conditional_requests import NOT_MODIFIED, REVALIDATED, TAGGED, UNCHANGING, conditional_response
from app.http.dependencies import Owner, ServicesDependency
from app.http.negotiation import AcceptsJson, image_media_type
from app.http.openapi import IMAGE_CONTENT, problems
from app.http.references import VersionReference
from app.http.rendering import to_json
from app.prediction.served_versions import ServedVersions
from app.prediction.usage_counts import BOUNDS, Counted
from app.registry.catalogue import Catalogue
from app.registry.records import Version
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.functions import Expansion
from relevance_bayes.records.references import Reference
from relevance_bayes.records.statistics import Latency, LatencyBucket, OutsideSupport, Statistics
from relevance_bayes.tasks.images.prediction import ImageModel
from relevance_bayes.tasks.prediction import VersionExpansion

Functions = Annotated[
    int | None,
    Query(
        ge=1,
        le=2**31,
        description="The number of functions: the constant and those with the largest weights, by default all.",
    ),
]

router = APIRouter(prefix="/v1/models", tags=["Predictions"])


@router.get(
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
    content = to_json(expansion_record(services[ServedVersions].version(owner, *reference).model.expansion()))
    return conditional_response(request, content, cache_control=_kept(reference))


@router.get(
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
    return statistics_record(found, counters.since, counters.until_now(found))


def expansion_record(expansion: VersionExpansion) -> Expansion:
    """Return an expansion for a response."""
    return Expansion(
        inputs=expansion.inputs,
        centres=tuple(map(tuple, expansion.centres.tolist())),
        widths=tuple(map(tuple, expansion.widths.tolist())),
        weights=tuple(expansion.weights.tolist()),
        constant=expansion.constant,
    )


def statistics_record(version: Version, since: datetime, counted: Counted) -> Statistics:
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
