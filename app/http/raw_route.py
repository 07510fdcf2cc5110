"""Routes whose endpoint reads the request itself, since resolving dependencies costs more than a prediction."""

from collections.abc import Callable, Coroutine, Mapping, Sequence

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.types import Receive, Scope

from app.errors import MalformedBodyError
from relevance_bayes.records.references import Reference


class RawRoute(APIRoute):
    """A route whose endpoint gets the request without any dependency resolved."""

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
