"""The routes of API keys; they need the scope `admin`."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import TypeAdapter

from app.accounts.service import ApiKeys
from app.http.bodies import read_strictly
from app.http.dependencies import JsonBody, Owner, ServicesDependency, identifier, principal_of
from app.http.lists import ListQuery
from app.http.negotiation import AcceptsJson
from app.http.openapi import json_body, problems
from relevance_bayes.records.keys import ApiKey, ApiKeyRequest, NewApiKey, RotationRequest
from relevance_bayes.records.pages import Page

API_KEY: TypeAdapter[ApiKeyRequest] = TypeAdapter(ApiKeyRequest)
ROTATION: TypeAdapter[RotationRequest] = TypeAdapter(RotationRequest)

router = APIRouter(prefix="/v1/keys", tags=["API keys"], dependencies=[AcceptsJson])


@router.post(
    "",
    status_code=201,
    summary="Create an API key",
    openapi_extra=json_body("ApiKeyIn"),
    responses=problems(400, 406, 409, 413, 415, 422),
)
def create(request: Request, body: JsonBody, services: ServicesDependency, response: Response) -> NewApiKey:
    """Create an API key of the caller's owner. Only this response has the secret."""
    given, by = read_strictly(API_KEY, body), principal_of(request)
    made = services[ApiKeys].create(by.owner, given.name, scopes=given.scopes, expires_at=given.expires_at, by=by)
    return _new(*made, response)


@router.get("", summary="List API keys", responses=problems(406, 422))
def keys(owner: Owner, services: ServicesDependency, query: Annotated[ListQuery, Query()]) -> Page[ApiKey]:
    """List API keys by age, revoked and expired ones too."""
    page = services[ApiKeys].page(owner, query.part)
    return Page.of(page.items, page.next)


@router.get("/{key_id}", summary="Get an API key", responses=problems(404, 406))
def key(key_id: str, owner: Owner, services: ServicesDependency) -> ApiKey:
    """Get an API key, without its secret."""
    return services[ApiKeys].get(owner, identifier(key_id, "API key"))


@router.post(
    "/{key_id}/rotate",
    status_code=201,
    summary="Rotate an API key",
    openapi_extra=json_body("RotationIn"),
    responses=problems(400, 404, 406, 409, 413, 415, 422),
)
def rotate(
    request: Request, key_id: str, body: JsonBody, services: ServicesDependency, response: Response
) -> NewApiKey:
    """Create a key with the same name and scopes; the old one expires after the overlap, so that no request fails."""
    given = read_strictly(ROTATION, body)
    overlap, by = timedelta(seconds=given.overlap_seconds), principal_of(request)
    made = services[ApiKeys].rotate(by.owner, identifier(key_id, "API key"), overlap=overlap, by=by)
    return _new(*made, response)


@router.post("/{key_id}/revoke", summary="Revoke an API key", responses=problems(404, 406))
def revoke(key_id: str, owner: Owner, services: ServicesDependency) -> ApiKey:
    """Revoke an API key: every process of the service refuses it within two seconds."""
    return services[ApiKeys].revoke(owner, identifier(key_id, "API key"))


def _new(key: ApiKey, secret: str, response: Response) -> NewApiKey:
    response.headers["Location"] = f"/v1/keys/{key.id}"
    response.headers["Cache-Control"] = "no-store"
    return NewApiKey(**vars(key), secret=secret)
