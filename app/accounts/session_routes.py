"""The route of the session, by which a page in a browser sends requests without an API key."""

import time
from datetime import UTC, datetime
from math import ceil

from fastapi import APIRouter, Request, Response

from app.accounts.service import Sessions
from app.http.authentication import PROJECT_HEADER, SESSION, check_own_page, expired_cookies, session_cookie, session_of
from app.http.dependencies import ServicesDependency, principal_of
from app.http.negotiation import AcceptsJson
from app.http.openapi import problems
from app.identity import Principal
from relevance_bayes.records.accounts import KEY_SCOPES, Session
from relevance_bayes.records.errors import NotFoundError

router = APIRouter(prefix=SESSION, tags=["Sessions"], dependencies=[AcceptsJson])

COOKIE = {"Set-Cookie": {"schema": {"type": "string"}, "description": "The cookie of the session."}}


@router.post(
    "",
    status_code=201,
    summary="Create a session",
    responses={201: {"headers": COOKIE}, **problems(403, 406, 409)},
)
def create(request: Request, services: ServicesDependency, response: Response) -> Session:
    """Create a session of the request's API key or token, with its owner and scopes, and set its cookie.

    With `Relevance-Project`, requests with the session act in that project unless they name another. The session ends
    after `RELEVANCE_SESSION_SECONDS`, or with the key or token if that is earlier.

    A request with a session instead of a key, and with `Relevance-Project`, replaces the session by one that acts in
    that project and ends at the same time.
    """
    check_own_page(request.scope, needs_origin=False)
    current = principal_of(request)
    is_switch = current.is_session and PROJECT_HEADER in request.headers
    secret, principal = services[Sessions].create(current, replaced=session_of(request.scope) if is_switch else None)
    seconds = ceil((principal.expires_at or 0.0) - time.time())
    response.headers["Set-Cookie"] = session_cookie(request.scope, secret, seconds=seconds)
    return _shown(principal, response)


@router.get("", summary="Get the session", responses=problems(406))
def session(request: Request, response: Response) -> Session:
    """Get the project and the scopes of a request, and the owner and the expiry of its session, API key or token."""
    return _shown(principal_of(request), response)


@router.delete("", status_code=204, summary="End the session", responses=problems(403, 404, 406))
def end(request: Request, services: ServicesDependency) -> Response:
    """End the request's session and remove its cookie: every process of the service refuses it within two seconds."""
    secret = session_of(request.scope)
    if secret is None:
        raise NotFoundError("The request has no session cookie.")
    services[Sessions].end(secret)
    response = Response(status_code=204, headers={"Cache-Control": "no-store"})
    for cookie in expired_cookies():
        response.headers.append("Set-Cookie", cookie)
    return response


def _shown(principal: Principal, response: Response) -> Session:
    response.headers["Cache-Control"] = "no-store"
    expiry = principal.expires_at
    return Session(
        principal.owner,
        tuple(scope for scope in KEY_SCOPES if scope in principal.scopes),
        None if expiry is None else datetime.fromtimestamp(expiry, UTC),
        principal.credential.owner,
    )
