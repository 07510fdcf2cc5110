"""Exception handlers that turn every error into problem+json (RFC 9457)."""

import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from app.errors import OutOfReachError, UnavailableError
from app.http.middleware import REQUEST_ID_HEADER
from app.http.problems import (
    FRAMEWORK,
    KINDS,
    REQUEST_ID,
    UNEXPECTED,
    ProblemKind,
    error_response,
    kind_of,
    problem_response,
)
from app.http.response_headers import SECURITY_HEADERS
from relevance_bayes.records.errors import InvalidRequestError, RelevanceError, sentence

log = structlog.stdlib.get_logger("app.problems")


def add_handlers(app: FastAPI) -> None:
    """Register the exception handlers."""
    app.add_exception_handler(RelevanceError, _own)
    app.add_exception_handler(RequestValidationError, _parameters)
    app.add_exception_handler(HTTPException, _framework)
    app.add_exception_handler(Exception, _unexpected)


async def problem_of(request: Request, error: RelevanceError | HTTPException) -> Response:
    """Return the problem response to an error that no route handled."""
    return await (_own if isinstance(error, RelevanceError) else _framework)(request, error)


async def _own(request: Request, error: Exception) -> Response:
    assert isinstance(error, RelevanceError)
    if kind_of(error) is UNEXPECTED:  # a programming error, which no request should cause
        return await _unexpected(request, error)
    if isinstance(error, UnavailableError) and not isinstance(error, OutOfReachError):  # the monitor logs an outage
        log.info("unavailable", detail=error.detail, path=request.url.path, request_id=_request_id(request))
    response = error_response(request.scope, error)
    # A future of the thread in which it was raised refers to the error, and its traceback to that future and the body.
    # Without the traceback, reference counting frees all of them at once.
    error.__traceback__ = None
    return response


async def _parameters(request: Request, error: Exception) -> Response:
    """Return the problem for invalid query or path parameters; bodies are validated by the routes."""
    assert isinstance(error, RequestValidationError)
    errors = [
        {
            "header" if entry["loc"][0] == "header" else "parameter": ".".join(str(step) for step in entry["loc"][1:]),
            "detail": "The parameter is unknown." if entry["type"] == "extra_forbidden" else _sentence(entry["msg"]),
        }
        for entry in error.errors()
    ]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    (kind, name), (_, first) = errors[0].items()
    detail = f"The {kind} {name!r}: {first.removesuffix('.')}{more}."
    return problem_response(request.scope, KINDS[InvalidRequestError], detail=detail, errors=errors)


async def _framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code
    kind = FRAMEWORK.get(status) or ProblemKind(status, f"http-{status}", str(error.detail))
    headers = dict(error.headers or {})
    match status:
        case 404:
            detail = f"There is no resource at {request.url.path}."
        case 405:
            allowed = ", ".join(_allowed(request))
            headers["Allow"] = allowed
            detail = f"Expected {allowed} at {request.url.path}, got {request.method}."
        case _:
            detail = str(error.detail)
    return problem_response(request.scope, kind, detail=detail, headers=headers)


async def _unexpected(request: Request, error: Exception) -> Response:
    """Return the problem for an unexpected error; it bypasses all middleware, so their headers are set here."""
    request_id = _request_id(request)
    log.error("unexpected", path=request.url.path, request_id=request_id, exc_info=error)
    detail = "The service failed unexpectedly. Its log has the error under the request id."
    headers = SECURITY_HEADERS | ({REQUEST_ID_HEADER: request_id} if request_id else {})
    return problem_response(request.scope, UNEXPECTED, detail=detail, headers=headers)


def _request_id(request: Request) -> str | None:
    request_id: str | None = request.scope.get("state", {}).get(REQUEST_ID)
    return request_id


def _allowed(request: Request) -> list[str]:
    """Return the methods of every route at this path; the framework reports only those of the first."""
    methods: set[str] = set()
    for route in iter_route_contexts(request.app.routes):
        match, _ = route.original_route.matches({**request.scope, "path_params": {}})
        if match is not Match.NONE:
            methods |= route.methods or set()
    if "GET" in methods:
        methods.add("HEAD")
    return sorted(methods)


def _sentence(message: str) -> str:
    return sentence(message.removeprefix("Input "))
