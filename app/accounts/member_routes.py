"""The routes of members, which need the scope `admin`, and of the projects in which a request may act."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Request, Response

from app.accounts.member_service import Members
from app.accounts.records import ROLE_SCOPES, ProjectRole
from app.accounts.schemas import MEMBER_IN, member_record
from app.http.authentication import MEMBERS, PROJECTS
from app.http.bodies import read_strictly
from app.http.dependencies import JsonBody, Owner, ServicesDependency, principal_of
from app.http.lists import After, Limit
from app.http.negotiation import AcceptsJson
from app.http.openapi import json_body, problems
from app.identity import Principal
from relevance_bayes.types.keys import KEY_SCOPES
from relevance_bayes.types.members import Member, Project
from relevance_bayes.types.pages import Page

TAG = "Members"

router = APIRouter(prefix=MEMBERS, tags=[TAG], dependencies=[AcceptsJson])
projects_router = APIRouter(prefix=PROJECTS, tags=[TAG], dependencies=[AcceptsJson])

Subject = Annotated[str, Path(description="The owner of the member's API keys, or that its tokens have.")]


@router.get("", summary="List members", responses=problems(406, 422))
def members(owner: Owner, services: ServicesDependency, limit: Limit = 20, after: After = None) -> Page[Member]:
    """List the members of the project by subject, each with its role."""
    page = services[Members].page(owner, limit=limit, after=after)
    return Page.of([member_record(member) for member in page.items], page.next)


@router.get("/{subject:path}", summary="Get a member", responses=problems(404, 406))
def member(subject: Subject, owner: Owner, services: ServicesDependency) -> Member:
    """Get a member with its role."""
    return member_record(services[Members].get(owner, subject))


@router.put(
    "/{subject:path}",
    summary="Add a member or change its role",
    openapi_extra=json_body("MemberIn"),
    responses={
        200: {"description": "The member existed, and has the role now."},
        201: {"description": "The member was added.", "model": Member},
        **problems(400, 406, 409, 413, 415, 422),
    },
)
def put(subject: Subject, body: JsonBody, owner: Owner, services: ServicesDependency, response: Response) -> Member:
    """Share the project with another owner, whose API keys and tokens may then act in it: every process of the service
    follows within two seconds.
    """
    given = read_strictly(MEMBER_IN, body)
    made, is_new = services[Members].put(owner, subject, given.role)
    if is_new:
        response.status_code = 201
        response.headers["Location"] = f"{MEMBERS}/{quote(subject, safe='')}"
    return member_record(made)


@router.delete("/{subject:path}", status_code=204, summary="Remove a member", responses=problems(404, 406))
def remove(subject: Subject, owner: Owner, services: ServicesDependency) -> None:
    """Remove a member: every process of the service refuses its requests in the project within two seconds.

    What it created in the project stays: datasets, models, unfinished jobs, webhooks and API keys.
    """
    services[Members].remove(owner, subject)


@projects_router.get("", summary="List projects", responses=problems(406, 422))
def projects(request: Request, services: ServicesDependency, limit: Limit = 20, after: After = None) -> Page[Project]:
    """List by name the projects in which the API key, token or session of the request may act, its own too."""
    own = principal_of(request).credential
    page = services[Members].projects(own.owner, limit=limit, after=after)
    return Page.of([_project(own, name, role) for name, role in page.items], page.next)


def _project(own: Principal, name: str, role: ProjectRole) -> Project:
    scopes = (own if role == "owner" else own.acting_in(name, ROLE_SCOPES[role])).scopes
    return Project(name, role, tuple(scope for scope in KEY_SCOPES if scope in scopes))
