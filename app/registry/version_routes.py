"""Routes of a version: what is stored with it."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import TypeAdapter

from app.http.conditional_requests import (
    NOT_MODIFIED,
    REVALIDATED,
    TAGGED,
    UNCHANGING,
    conditional_response,
)
from app.http.dependencies import Owner, ServicesDependency
from app.http.lists import After, Limit
from app.http.negotiation import AcceptsJson
from app.http.openapi import problems
from app.http.references import VersionReference
from app.http.rendering import to_json
from app.registry.catalogue import Catalogue
from relevance_bayes.records.baselines import Baseline
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.lineage import Lineage
from relevance_bayes.records.pages import Page

VECTORS: TypeAdapter[Page[RelevanceVector]] = TypeAdapter(Page[RelevanceVector])

router = APIRouter(prefix="/v1/models", tags=["Models"], dependencies=[AcceptsJson])


@router.delete(
    "/{name}/versions/{version}", status_code=204, summary="Delete a version", responses=problems(404, 406, 409)
)
def delete_version(reference: VersionReference, owner: Owner, services: ServicesDependency) -> None:
    """Delete a version to which no alias points; its number is never used again."""
    services[Catalogue].delete_version(owner, reference)


@router.get(
    "/{name}/versions/{version}/baseline",
    summary="Get the histograms of the training data",
    response_model=Baseline,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406)},
)
def baseline(reference: VersionReference, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Return histograms of the training rows and of predictions for them, which the metrics of drift refer to.

    Approximations and images have none, and neither have versions that were imported without them.
    """
    found = services[Catalogue].version(owner, reference)
    if found.report.baseline is None:
        raise NotFoundError(f"Version {found.number} of model {found.model!r} has no histograms of its training data.")
    return conditional_response(request, to_json(found.report.baseline), cache_control=REVALIDATED)


@router.get(
    "/{name}/versions/{version}/diagnostics",
    summary="Get the diagnostics of the training",
    response_model=Diagnostics,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406)},
)
def diagnostics(reference: VersionReference, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Return the reliability of the predictions of rows that were left out, the residuals in bins, and the steps of the
    fit, all as they were when the version was trained.

    Only versions with a target have them, and not those that were imported without them.
    """
    content = to_json(services[Catalogue].diagnostics(owner, reference))
    return conditional_response(request, content, cache_control=UNCHANGING if reference.is_exact else REVALIDATED)


@router.get(
    "/{name}/versions/{version}/lineage",
    summary="Get the lineage of a version",
    response_model=Lineage,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406)},
)
def lineage(reference: VersionReference, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Get the dataset with its digest, the request, the parent version, and the program that made the version."""
    content = to_json(services[Catalogue].lineage(owner, reference))
    return conditional_response(request, content, cache_control=REVALIDATED)


@router.get(
    "/{name}/versions/{version}/relevance-vectors",
    summary="List the functions of a version",
    response_model=Page[RelevanceVector],
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406, 422)},
)
def relevance_vectors(
    reference: VersionReference,
    owner: Owner,
    services: ServicesDependency,
    request: Request,
    limit: Limit = 100,
    after: After = None,
    sort: Annotated[
        Literal["number", "weight"], Query(description="The order: by number, or by the absolute weight, descending.")
    ] = "number",
) -> Response:
    """List the functions that the version keeps, with their rows and weights."""
    page = services[Catalogue].vectors(owner, reference, limit=limit, after=after, sort=sort)
    content = VECTORS.dump_json(Page.of(page.items, page.next))
    return conditional_response(request, content, cache_control=UNCHANGING if reference.is_exact else REVALIDATED)
