"""The routes of API keys, of members, and of the projects in which a request may act."""

from datetime import timedelta
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import TypeAdapter

from app.accounts.records import ROLE_SCOPES
from app.accounts.service import ApiKeys, MemberService
from app.http.authentication import MEMBERS, PROJECTS
from app.http.bodies import read_strictly
from app.http.dependencies import JsonBody, Owner, ServicesDependency, identifier, principal_of
from app.http.lists import After, Limit, ListQuery
from app.http.negotiation import AcceptsJson
from app.http.openapi import json_body, problems
from app.identity import Principal
from relevance_bayes.records.accounts import KEY_SCOPES, ApiKey, ApiKeyRequest, NewApiKey, RotationRequest
from relevance_bayes.records.json import Page
from relevance_bayes.records.members import (
    KeysOfMember,
    Member,
    MemberRequest,
    MemberState,
    Project,
    ProjectRole,
    RemovedMember,
)

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


TAG = "Members"

MEMBER: TypeAdapter[MemberRequest] = TypeAdapter(MemberRequest)

member_router = APIRouter(prefix=MEMBERS, tags=[TAG], dependencies=[AcceptsJson])
projects_router = APIRouter(prefix=PROJECTS, tags=[TAG], dependencies=[AcceptsJson])

Subject = Annotated[str, Path(description="The owner of the member's API keys, or that its tokens have.")]

Name = Annotated[str, Path(description="The owner of the project.")]
State = Annotated[
    MemberState, Query(description="Those that are members, or those that are invited and have not accepted.")
]
Keys = Annotated[KeysOfMember, Query(description="What becomes of the API keys that the member has made.")]


@member_router.get("", summary="List members", responses=problems(406, 422))
def members(
    owner: Owner, services: ServicesDependency, limit: Limit = 20, after: After = None, state: State = "member"
) -> Page[Member]:
    """List the members of the project, or the owners that are invited, by subject, each with its role."""
    page = services[MemberService].page(owner, limit=limit, after=after, state=state)
    return Page.of(page.items, page.next)


@member_router.get("/{subject:path}", summary="Get a member", responses=problems(404, 406))
def member(subject: Subject, owner: Owner, services: ServicesDependency) -> Member:
    """Get a member, or an owner that is invited, with its role."""
    return services[MemberService].get(owner, subject)


@member_router.put(
    "/{subject:path}",
    summary="Invite a member or change its role",
    openapi_extra=json_body("MemberIn"),
    responses={
        200: {"description": "The member existed or was invited, and has the role now."},
        201: {"description": "The member was invited.", "model": Member},
        **problems(400, 406, 409, 413, 415, 422),
    },
)
def put(subject: Subject, body: JsonBody, owner: Owner, services: ServicesDependency, response: Response) -> Member:
    """Invite another owner to the project: once it accepts, its API keys and tokens may act there.

    Every process of the service follows the change of a member's role within two seconds.
    """
    given = read_strictly(MEMBER, body)
    made, is_new = services[MemberService].put(owner, subject, given.role)
    if is_new:
        response.status_code = 201
        response.headers["Location"] = f"{MEMBERS}/{quote(subject, safe='')}"
    return made


@member_router.delete("/{subject:path}", summary="Remove a member", responses=problems(404, 406, 422))
def remove(subject: Subject, owner: Owner, services: ServicesDependency, keys: Keys = "revoke") -> RemovedMember:
    """Remove a member, or withdraw its invitation: every process of the service refuses its requests in the project
    within two seconds.

    The API keys that it has made in the project are listed, and revoked unless `keys` is `keep`. What else it created
    in the project stays: datasets, models, unfinished jobs and webhooks.
    """
    made = services[MemberService].remove(owner, subject, revokes_keys=keys == "revoke")
    return RemovedMember(subject, made)


@projects_router.get("", summary="List projects", responses=problems(406, 422))
def projects(
    request: Request, services: ServicesDependency, limit: Limit = 20, after: After = None, state: State = "member"
) -> Page[Project]:
    """List by name the projects in which the API key, token or session of the request may act, its own too, or those
    to which its owner is invited.
    """
    own = principal_of(request).credential
    page = services[MemberService].projects(own.owner, limit=limit, after=after, state=state)
    return Page.of([_project(own, name, role, state) for name, role in page.items], page.next)


@projects_router.put("/{name:path}", summary="Accept an invitation", responses=problems(404, 406))
def accept(name: Name, request: Request, services: ServicesDependency) -> Project:
    """Become a member of a project, to which its owner has invited the owner of the request's key, token or session:
    every process of the service follows within two seconds.
    """
    own = principal_of(request).credential
    member = services[MemberService].accept(name, own.owner)
    return _project(own, name, member.role, "member")


@projects_router.delete("/{name:path}", status_code=204, summary="Leave a project", responses=problems(404, 406))
def leave(name: Name, request: Request, services: ServicesDependency) -> None:
    """Decline an invitation, or leave a project: the API keys made there as its member are revoked."""
    services[MemberService].leave(name, principal_of(request).credential.owner)


def _project(own: Principal, name: str, role: ProjectRole, state: MemberState) -> Project:
    scopes = (own if role == "owner" else own.acting_in(name, ROLE_SCOPES[role])).scopes
    return Project(name, role, tuple(scope for scope in KEY_SCOPES if scope in scopes), state)
