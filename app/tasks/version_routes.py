"""Routes of versions, each with the members of its task."""

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
from app.http.dependencies import JsonBody, Owner, ServicesDependency
from app.http.lists import VersionsQuery
from app.http.negotiation import AcceptsJson
from app.http.openapi import json_body, problems
from app.http.references import ModelName, VersionReference
from app.http.rendering import to_json
from app.registry.annotations import ANNOTATION_IN
from app.registry.catalogue import Catalogue
from app.registry.records import Version
from app.registry.service import Annotations
from app.tasks.responses import version_record
from relevance_bayes.records import versions as records
from relevance_bayes.records.pages import Page

router = APIRouter(prefix="/v1/models", tags=["Models"], dependencies=[AcceptsJson])


@router.get("/{name}/versions", summary="List versions", responses=problems(404, 406, 422))
def versions(
    name: ModelName, owner: Owner, services: ServicesDependency, query: Annotated[VersionsQuery, Query()]
) -> Page[records.KnownVersion]:
    """List a model's versions by age."""
    page = services[Catalogue].versions(owner, name, query.part, tags=query.tags)
    return Page.of([version_record(version) for version in page.items], page.next)


@router.get(
    "/{name}/versions/{version}",
    summary="Get a version",
    response_model=records.KnownVersion,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406)},
)
def version(reference: VersionReference, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Get a version: the result of a training, with its description and tags."""
    found = services[Catalogue].version(owner, reference)
    return conditional_response(request, _version_bytes(found), cache_control=REVALIDATED)


@router.patch(
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
