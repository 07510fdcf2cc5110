"""Predictions, the hot path: what the framework does for other routes would cost more than the prediction."""

import re

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from app.api.dependencies import owner_of, predicting_of, require_json
from app.api.documentation import json_body, problems
from app.api.express import BareRoute, body_of, documented, names_in, reference_of
from app.api.handlers import problem_of
from app.api.negotiation import require_json_accept
from app.api.predicting import Predicting
from app.api.schemas.predictions import PredictionsOut
from app.domain.errors import RelevanceError

JSON = b"application/json"
_ANYTHING = ([b"*/*"], [JSON])
_PATH = re.compile(r"/v1/models/([^/]+)(?:/versions/([^/]+))?/predict")


class Express:
    """The way of predict calls past the framework, whose own routes tell of them."""

    def __init__(self, predicting: Predicting) -> None:
        self._predicting = predicting

    def takes(self, scope: Scope) -> bool:
        """Whether this is one; then the scope has what its path names."""
        return names_in(scope, _PATH)

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


router = APIRouter(prefix="/v1/models", tags=["Predictions"], route_class=BareRoute)


@router.post(
    "/{name}/predict",
    summary="Predict with the newest version, or an alias",
    response_model=PredictionsOut,
    openapi_extra=documented("name@alias", body=json_body("PredictIn")),
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
    openapi_extra=documented("name", "version", body=json_body("PredictIn")),
    responses=problems(400, 406, 404, 413, 415, 422),
)
async def predict_by_version(request: Request) -> Response:
    """One prediction for each row of a table, in their order; the same rows always get the same answer."""
    return Response(b"".join(await _answer(request, predicting_of(request))), media_type="application/json")


async def _answer(request: Request, predicting: Predicting) -> list[bytes]:
    reference = reference_of(request)
    _require_json_alone(request)
    body = await body_of(request.receive)
    return await predicting.answered(owner_of(request), reference, body)


def _require_json_alone(request: Request) -> None:
    """Raise 406 or 415 where the answer can't be JSON or the body does not claim to be."""
    claims = [value for name, value in request.scope["headers"] if name == b"content-type"]
    accepts = [value for name, value in request.scope["headers"] if name == b"accept"]
    if claims != [JSON] or (accepts and accepts not in _ANYTHING):  # by the rules, which take longer
        require_json_accept(request)
        require_json(request)
