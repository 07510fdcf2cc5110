"""The routes of aliases: names of versions that can be moved, and their history."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import TypeAdapter

from app.http.bodies import read_strictly
from app.http.conditional_requests import (
    NOT_MODIFIED,
    REVALIDATED,
    TAGGED,
    ChangeCondition,
    RemovalCondition,
    conditional_response,
)
from app.http.dependencies import Author, JsonBody, Owner, ServicesDependency
from app.http.lists import After, Limit, ListQuery
from app.http.negotiation import AcceptsJson
from app.http.openapi import json_body, problems
from app.http.references import AliasName, ModelName, refuse_no_alias
from app.http.rendering import to_json
from app.registry.records import StoredAlias
from app.registry.service import AliasService
from relevance_bayes.records.models import Alias, AliasIn, AliasMove, Reason
from relevance_bayes.records.pages import Page

router = APIRouter(prefix="/v1/models/{name}/aliases", tags=["Models"], dependencies=[AcceptsJson])

ALIAS_IN: TypeAdapter[AliasIn] = TypeAdapter(AliasIn)


@router.get("", summary="List a model's aliases", responses=problems(404, 406, 422))
def aliases(
    name: ModelName, owner: Owner, services: ServicesDependency, limit: Limit = 20, after: After = None
) -> Page[Alias]:
    """List a model's aliases by name, each with its version."""
    page = services[AliasService].page(owner, name, limit=limit, after=after)
    return Page.of(page.items, page.next)


@router.get(
    "/{alias}",
    summary="Get an alias",
    response_model=Alias,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406)},
)
def alias(name: ModelName, alias: AliasName, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Get an alias with the number of its version."""
    found = services[AliasService].get(owner, name, alias)
    return conditional_response(request, to_json(found), cache_control=REVALIDATED, tag=found.tag)


@router.put(
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


@router.delete("/{alias}", status_code=204, summary="Remove an alias", responses=problems(404, 406, 412, 422))
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


@router.get("/{alias}/history", summary="List the moves of an alias", responses=problems(404, 406, 422))
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
