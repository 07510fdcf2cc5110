"""Predictions, the hot path: what the framework does for other routes would cost more than the prediction."""

import re
from collections.abc import Callable, Coroutine

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from app.api.dependencies import predicting_of, require_json
from app.api.documentation import json_body, problems
from app.api.handlers import problem_of
from app.api.negotiation import require_json_accept
from app.api.predicting import Predicting
from app.api.schemas.predictions import PredictionsOut
from app.domain.errors import RelevanceError
from app.domain.references import Reference

JSON = b"application/json"
_ANYTHING = ([b"*/*"], [JSON])
_PATH = re.compile(r"/v1/models/([^/]+)(?:/versions/([^/]+))?/predict")


class BareRoute(APIRoute):
    """A route whose endpoint gets the request as it is: resolving its dependencies costs more than a prediction."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[None, None, Response]]:
        """The endpoint itself."""
        handler: Callable[[Request], Coroutine[None, None, Response]] = self.endpoint
        return handler


class Express:
    """The way of predict calls past the framework, whose own routes tell of them."""

    def __init__(self, predicting: Predicting) -> None:
        self._predicting = predicting

    def takes(self, scope: Scope) -> bool:
        """Whether this is one; then the scope has what its path names."""
        if scope["method"] != "POST":
            return False
        found = _PATH.fullmatch(scope["path"])
        if found is None:
            return False
        name, version = found.groups()
        scope["path_params"] = {"name": name} if version is None else {"name": name, "version": version}
        return True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            pieces = await _answer(request, self._predicting)
        except (RelevanceError, HTTPException) as error:
            response = await problem_of(request, error)
            await response(scope, receive, send)
            return
        headers = [(b"content-length", b"%d" % sum(map(len, pieces))), (b"content-type", JSON)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        *others, last = pieces
        for piece in others:  # no faster than the client reads them
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": last})


def _documented(*parameters: str) -> dict[str, object]:
    """What FastAPI can't see of a bare route: its body and its path's parameters."""
    told = {
        "name": "The model's name.",
        "name@alias": "The model's name; `name@alias` is the version to which that alias points.",
        "version": "The version's number, or an alias of it.",
    }
    described = [
        {
            "name": said.partition("@")[0],
            "in": "path",
            "required": True,
            "schema": {"type": "string"},
            "description": told[said],
        }
        for said in parameters
    ]
    return {**json_body("PredictIn"), "parameters": described}


router = APIRouter(prefix="/v1/models", tags=["Predictions"], route_class=BareRoute)


@router.post(
    "/{name}/predict",
    summary="Predict with the newest version, or an alias",
    response_model=PredictionsOut,
    openapi_extra=_documented("name@alias"),
    responses=problems(400, 406, 404, 413, 415, 422),
)
async def predict(request: Request) -> Response:
    """One prediction for each row of a table, in their order.

    The newest version answers; `model@alias` is answered by the one to which the alias points. A newer version, and a
    move of an alias, is seen within a second.
    """
    return Response(b"".join(await _answer(request, predicting_of(request))), media_type="application/json")


@router.post(
    "/{name}/versions/{version}/predict",
    summary="Predict with one version",
    response_model=PredictionsOut,
    openapi_extra=_documented("name", "version"),
    responses=problems(400, 406, 404, 413, 415, 422),
)
async def predict_by_version(request: Request) -> Response:
    """One prediction for each row of a table, in their order; the same rows always get the same answer."""
    return Response(b"".join(await _answer(request, predicting_of(request))), media_type="application/json")


async def _answer(request: Request, predicting: Predicting) -> list[bytes]:
    scope = request.scope
    named: dict[str, str] = scope["path_params"]
    version = named.get("version")
    reference = Reference.read(named["name"]) if version is None else Reference.of(named["name"], version)
    _require_json_alone(request)
    body = await _body(request.receive)
    return await predicting.answered(scope["state"]["owner"], reference, body)


def _require_json_alone(request: Request) -> None:
    """Raise 406 or 415 where the answer can't be JSON or the body does not claim to be."""
    claims = [value for name, value in request.scope["headers"] if name == b"content-type"]
    accepts = [value for name, value in request.scope["headers"] if name == b"accept"]
    if claims != [JSON] or (accepts and accepts not in _ANYTHING):  # by the rules, which take longer
        require_json_accept(request)
        require_json(request)


async def _body(receive: Receive) -> bytes:
    """Mostly one message; raises ClientDisconnect."""
    parts: list[bytes] = []
    while (message := await receive())["type"] == "http.request":
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return parts[0] if len(parts) == 1 else b"".join(parts)
    raise ClientDisconnect
