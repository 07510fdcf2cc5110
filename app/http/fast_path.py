"""The routes of predictions, whose endpoints read requests themselves, and their fast path past the framework."""

import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import TypeAlias

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from app.errors import MalformedBodyError
from app.http.handlers import problem_of
from app.http.paths import TEMPLATE
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.records.models import Reference


class RawRoute(APIRoute):
    """A route whose endpoint gets the request without any dependency resolved, which costs more than a prediction."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[None, None, Response]]:
        """Return the endpoint itself."""
        handler: Callable[[Request], Coroutine[None, None, Response]] = self.endpoint
        return handler


def reference_of(scope: Scope) -> Reference:
    """Return the version that a path names; raises NotFoundError for an invalid name."""
    named: dict[str, str] = scope["path_params"]
    version = named.get("version")
    return Reference.read(named["name"]) if version is None else Reference.of(named["name"], version)


async def body_of(receive: Receive) -> bytes:
    """Return the complete body, mostly one message; raises MalformedBodyError where the client disconnects."""
    parts: list[bytes] = []
    while (message := await receive())["type"] == "http.request":
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return parts[0] if len(parts) == 1 else b"".join(parts)
    raise MalformedBodyError("Expected a complete body, got a connection closed before its end.")


def documented(
    *parameters: str, body: Mapping[str, object], query: Sequence[Mapping[str, object]] = ()
) -> dict[str, object]:
    """Return the OpenAPI of a raw route that FastAPI can't infer: its body, path and query."""
    reported = {
        "name": "The model's name.",
        "name@alias": "The model's name; `name@alias` is the version to which that alias points.",
        "version": "The version's number, or an alias of it.",
    }
    described = [
        {
            "name": given.partition("@")[0],
            "in": "path",
            "required": True,
            "schema": {"type": "string"},
            "description": reported[given],
        }
        for given in parameters
    ]
    return {**body, "parameters": [*described, *query]}


Responder: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
"""Sends the response to a request whose scope has the parameters of its path; raises problems."""


class FastPath:
    """Routes POST requests for an action of a model, or of a version, to `respond`; the framework's own routes document
    them. Without it a one-row prediction costs 3.2 times the CPU in process.
    """

    def __init__(self, models: str, action: str, respond: Responder) -> None:
        self._path = re.compile(rf"{models}/([^/]+)(?:/versions/([^/]+))?/{action}")
        self._of_model = f"{models}/{{name}}/{action}"
        self._of_version = f"{models}/{{name}}/versions/{{version}}/{action}"
        self._respond = respond

    def takes(self, scope: Scope) -> bool:
        """Return whether the request is for this path; if so, set its path parameters and template in the scope."""
        if scope["method"] != "POST" or scope.get("root_path"):
            return False
        found = self._path.fullmatch(scope["path"])
        if found is None:
            return False
        name, version = found.groups()
        if version is None:
            scope["path_params"], scope[TEMPLATE] = {"name": name}, self._of_model
        else:
            scope["path_params"], scope[TEMPLATE] = {"name": name, "version": version}, self._of_version
        return True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._respond(scope, receive, send)
        except (RelevanceError, HTTPException) as error:
            response = await problem_of(Request(scope, receive), error)
            await response(scope, receive, send)
