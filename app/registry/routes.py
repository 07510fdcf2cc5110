"""The routes of models and their versions."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import TypeAdapter

from app.http.bodies import read_strictly
from app.http.conditional_requests import (
    NOT_MODIFIED,
    REVALIDATED,
    TAGGED,
    UNCHANGING,
    RemovalCondition,
    conditional_response,
    tag_of,
)
from app.http.dependencies import JsonBody, Owner, ServicesDependency
from app.http.lists import After, Limit, ModelsQuery, VersionsQuery
from app.http.negotiation import AcceptsJson
from app.http.openapi import json_body, problems
from app.http.references import ModelName, VersionReference
from app.http.rendering import to_json
from app.registry.catalogue import Catalogue
from app.registry.records import Model, Version
from app.registry.schemas import VersionOut, version_out
from app.registry.schemas.names import ANNOTATION_IN, MODEL_CHANGE_IN, lineage_record
from app.registry.schemas.shared import model_record
from app.registry.service import Annotations
from relevance_bayes.types import models as records
from relevance_bayes.types.baselines import Baseline
from relevance_bayes.types.diagnostics import Diagnostics
from relevance_bayes.types.errors import NotFoundError
from relevance_bayes.types.functions import RelevanceVector
from relevance_bayes.types.lineage import Lineage
from relevance_bayes.types.pages import Page

VECTORS: TypeAdapter[Page[RelevanceVector]] = TypeAdapter(Page[RelevanceVector])

router = APIRouter(prefix="/v1/models", tags=["Models"], dependencies=[AcceptsJson])


@router.get("", summary="List models", responses=problems(422, 406))
def models(owner: Owner, services: ServicesDependency, query: Annotated[ModelsQuery, Query()]) -> Page[records.Model]:
    """List models by age."""
    page = services[Catalogue].models(owner, query.part, task=query.task, tags=query.tags)
    return Page.of([model_record(model) for model in page.items], page.next)


@router.get(
    "/{name}",
    summary="Get a model",
    response_model=records.Model,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406)},
)
def model(name: ModelName, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Get a model: its task, target, inputs, aliases and newest version."""
    return conditional_response(
        request, _model_bytes(services[Catalogue].model(owner, name)), cache_control=REVALIDATED
    )


@router.patch(
    "/{name}",
    summary="Update a model",
    response_model=records.Model,
    openapi_extra=json_body("ModelChangeIn"),
    responses={200: TAGGED, **problems(400, 404, 406, 412, 413, 415, 422)},
)
def annotate(
    name: ModelName, body: JsonBody, owner: Owner, services: ServicesDependency, condition: RemovalCondition
) -> Response:
    """Change a model's description, tags, and the share of recorded predictions by a JSON merge patch."""
    requested = read_strictly(MODEL_CHANGE_IN, body)
    changed = services[Annotations].of_model(
        owner,
        name,
        requested.to_patch(),
        tag=lambda model: tag_of(_model_bytes(model)),
        condition=condition,
        record=requested.record_share,
    )
    return _changed(_model_bytes(changed))


@router.delete("/{name}", status_code=204, summary="Delete a model", responses=problems(404, 406, 409))
def delete_model(name: ModelName, owner: Owner, services: ServicesDependency) -> None:
    """Delete a model with all its versions and aliases, unless an unfinished job needs it."""
    services[Catalogue].delete_model(owner, name)


@router.get("/{name}/versions", summary="List versions", responses=problems(404, 406, 422))
def versions(
    name: ModelName, owner: Owner, services: ServicesDependency, query: Annotated[VersionsQuery, Query()]
) -> Page[VersionOut]:
    """List a model's versions by age."""
    page = services[Catalogue].versions(owner, name, query.part, tags=query.tags)
    return Page.of([version_out(version) for version in page.items], page.next)


@router.get(
    "/{name}/versions/{version}",
    summary="Get a version",
    response_model=VersionOut,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406)},
)
def version(reference: VersionReference, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Get a version: the result of a training, with its description and tags."""
    found = services[Catalogue].version(owner, reference)
    return conditional_response(request, _version_bytes(found), cache_control=REVALIDATED)


@router.get(
    "/{name}/versions/{version}/baseline",
    summary="Get the histograms of the training data",
    response_model=Baseline,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406)},
)
def baseline(reference: VersionReference, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Return histograms of the training rows and of predictions for them, which the metrics of drift refer to.

    Approximations and images have none, and neither have versions that were trained before the service kept them.
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

    Only versions with a target have them, and not those that were trained before the service kept them.
    """
    content = to_json(services[Catalogue].diagnostics(owner, reference))
    return conditional_response(request, content, cache_control=UNCHANGING if reference.is_exact else REVALIDATED)


@router.patch(
    "/{name}/versions/{version}",
    summary="Update a version's annotation",
    response_model=VersionOut,
    openapi_extra=json_body("AnnotationIn"),
    responses={200: TAGGED, **problems(400, 404, 406, 412, 413, 415, 422)},
)
def annotate_version(
    reference: VersionReference, body: JsonBody, owner: Owner, services: ServicesDependency, condition: RemovalCondition
) -> Response:
    """Change a version's description and tags by a JSON merge patch; all other members are immutable."""
    patch = read_strictly(ANNOTATION_IN, body).to_patch()
    changed = services[Annotations].of_version(
        owner, reference, patch, tag=lambda version: tag_of(_version_bytes(version)), condition=condition
    )
    return _changed(_version_bytes(changed))


@router.delete(
    "/{name}/versions/{version}", status_code=204, summary="Delete a version", responses=problems(404, 406, 409)
)
def delete_version(reference: VersionReference, owner: Owner, services: ServicesDependency) -> None:
    """Delete a version to which no alias points; its number is never used again."""
    services[Catalogue].delete_version(owner, reference)


@router.get(
    "/{name}/versions/{version}/lineage",
    summary="Get the lineage of a version",
    response_model=Lineage,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406)},
)
def lineage(reference: VersionReference, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Get the dataset with its digest, the request, the parent version, and the program that made the version."""
    content = to_json(lineage_record(services[Catalogue].lineage(owner, reference)))
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


def _model_bytes(model: Model) -> bytes:
    return to_json(model_record(model))


def _version_bytes(version: Version) -> bytes:
    return version_out(version).model_dump_json().encode()


def _changed(content: bytes) -> Response:
    headers = {"ETag": tag_of(content), "Cache-Control": REVALIDATED}
    return Response(content, headers=headers, media_type="application/json")
