"""The routes of models."""

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
from app.http.lists import ModelsQuery
from app.http.negotiation import AcceptsJson
from app.http.openapi import json_body, problems
from app.http.references import ModelName
from app.http.rendering import to_json
from app.registry.annotations import MODEL_CHANGE_IN
from app.registry.catalogue import Catalogue
from app.registry.service import Annotations
from relevance_bayes.records.models import Model
from relevance_bayes.records.pages import Page

router = APIRouter(prefix="/v1/models", tags=["Models"], dependencies=[AcceptsJson])


@router.get("", summary="List models", responses=problems(422, 406))
def models(owner: Owner, services: ServicesDependency, query: Annotated[ModelsQuery, Query()]) -> Page[Model]:
    """List models by age."""
    page = services[Catalogue].models(owner, query.part, task=query.task, tags=query.tags)
    return Page.of(page.items, page.next)


@router.get(
    "/{name}",
    summary="Get a model",
    response_model=Model,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406)},
)
def model(name: ModelName, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Get a model: its task, target, inputs, aliases and newest version."""
    return conditional_response(request, to_json(services[Catalogue].model(owner, name)), cache_control=REVALIDATED)


@router.patch(
    "/{name}",
    summary="Update a model",
    response_model=Model,
    openapi_extra=json_body("ModelChangeIn"),
    responses={200: TAGGED, **problems(400, 404, 406, 412, 413, 415, 422)},
)
def annotate(
    name: ModelName, body: JsonBody, owner: Owner, services: ServicesDependency, condition: RemovalCondition
) -> Response:
    """Change a model's description, tags, and the share of recorded predictions by a JSON merge patch."""
    patch = read_strictly(MODEL_CHANGE_IN, body)
    changed = services[Annotations].of_model(
        owner, name, patch, tag=lambda model: tag_of(to_json(model)), condition=condition
    )
    return changed_response(to_json(changed))


@router.delete("/{name}", status_code=204, summary="Delete a model", responses=problems(404, 406, 409))
def delete_model(name: ModelName, owner: Owner, services: ServicesDependency) -> None:
    """Delete a model with all its versions and aliases, unless an unfinished job needs it."""
    services[Catalogue].delete_model(owner, name)
