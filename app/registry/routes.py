"""The routes of models, of aliases and of what is stored with a version."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import TypeAdapter

from app.http.bodies import read_strictly
from app.http.conditional_requests import (
    NOT_MODIFIED,
    REVALIDATED,
    TAGGED,
    UNCHANGING,
    ChangeCondition,
    RemovalCondition,
    changed_response,
    conditional_response,
    tag_of,
)
from app.http.dependencies import Author, JsonBody, Owner, ServicesDependency
from app.http.lists import After, Limit, ListQuery, ModelsQuery
from app.http.negotiation import AcceptsJson, to_json
from app.http.openapi import json_body, problems
from app.http.references import AliasName, ModelName, VersionReference, refuse_no_alias
from app.registry.annotations import MODEL_CHANGE_IN
from app.registry.catalogue import Catalogue
from app.registry.records import StoredAlias
from app.registry.service import AliasService, Annotations
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.json import Page
from relevance_bayes.records.models import Alias, AliasIn, AliasMove, Model, Reason
from relevance_bayes.records.reports import Baseline
from relevance_bayes.records.versions import Lineage

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


alias_router = APIRouter(prefix="/v1/models/{name}/aliases", tags=["Models"], dependencies=[AcceptsJson])

ALIAS_IN: TypeAdapter[AliasIn] = TypeAdapter(AliasIn)


@alias_router.get("", summary="List a model's aliases", responses=problems(404, 406, 422))
def aliases(
    name: ModelName, owner: Owner, services: ServicesDependency, limit: Limit = 20, after: After = None
) -> Page[Alias]:
    """List a model's aliases by name, each with its version."""
    page = services[AliasService].page(owner, name, limit=limit, after=after)
    return Page.of(page.items, page.next)


@alias_router.get(
    "/{alias}",
    summary="Get an alias",
    response_model=Alias,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406)},
)
def alias(name: ModelName, alias: AliasName, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Get an alias with the number of its version."""
    found = services[AliasService].get(owner, name, alias)
    return conditional_response(request, to_json(found), cache_control=REVALIDATED, tag=found.tag)


@alias_router.put(
    "/{alias}",
    summary="Point an alias to a version",
    response_model=Alias,
    openapi_extra=json_body("AliasIn"),
    responses={
        200: {"description": "The alias existed, and points to the version now.", **TAGGED},
        201: {"description": "The alias was created.", "model": Alias, **TAGGED},
        **problems(400, 404, 406, 409, 412, 413, 415, 422),
    },
)
def move(
    name: ModelName,
    alias: AliasName,
    body: JsonBody,
    owner: Owner,
    author: Author,
    services: ServicesDependency,
    condition: ChangeCondition,
) -> Response:
    """Move or create an alias in one transaction; API processes follow within a second.

    Where it points to the version already, with the same reason, nothing changes.
    """
    refuse_no_alias(alias)
    requested = read_strictly(ALIAS_IN, body)
    moved = services[AliasService].move(
        owner, name, alias, to=requested.version, by=author, reason=requested.reason, condition=condition
    )
    return _shown(moved.alias, status=201 if moved.is_new else 200)


@alias_router.delete("/{alias}", status_code=204, summary="Remove an alias", responses=problems(404, 406, 412, 422))
def remove(
    name: ModelName,
    alias: AliasName,
    owner: Owner,
    author: Author,
    services: ServicesDependency,
    condition: RemovalCondition,
    reason: Annotated[Reason | None, Query()] = None,
) -> None:
    """Remove an alias; the version and the alias's history stay."""
    services[AliasService].remove(owner, name, alias, by=author, reason=reason, condition=condition)


@alias_router.get("/{alias}/history", summary="List the moves of an alias", responses=problems(404, 406, 422))
def history(
    name: ModelName, alias: AliasName, owner: Owner, services: ServicesDependency, query: Annotated[ListQuery, Query()]
) -> Page[AliasMove]:
    """List an alias's moves: time, old and new version, author and reason; also after its removal."""
    refuse_no_alias(alias)
    page = services[AliasService].history(owner, name, alias, query.part)
    return Page.of(page.items, page.next)


def _shown(alias: StoredAlias, *, status: int) -> Response:
    headers = {"ETag": alias.tag, "Cache-Control": REVALIDATED}
    if status == 201:
        headers["Location"] = f"/v1/models/{alias.model}/aliases/{alias.alias}"
    return Response(to_json(alias), status, headers=headers, media_type="application/json")


VECTORS: TypeAdapter[Page[RelevanceVector]] = TypeAdapter(Page[RelevanceVector])

version_router = APIRouter(prefix="/v1/models", tags=["Models"], dependencies=[AcceptsJson])


@version_router.delete(
    "/{name}/versions/{version}", status_code=204, summary="Delete a version", responses=problems(404, 406, 409)
)
def delete_version(reference: VersionReference, owner: Owner, services: ServicesDependency) -> None:
    """Delete a version to which no alias points; its number is never used again."""
    services[Catalogue].delete_version(owner, reference)


@version_router.get(
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


@version_router.get(
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


@version_router.get(
    "/{name}/versions/{version}/lineage",
    summary="Get the lineage of a version",
    response_model=Lineage,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406)},
)
def lineage(reference: VersionReference, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Get the dataset with its digest, the request, the parent version, and the program that made the version."""
    content = to_json(services[Catalogue].lineage(owner, reference))
    return conditional_response(request, content, cache_control=REVALIDATED)


@version_router.get(
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
