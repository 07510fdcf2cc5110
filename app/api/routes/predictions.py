"""Predictions, the hot path: what the framework does for other routes would cost more than the prediction."""

import re

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from app.api.by_lines import by_lines
from app.api.dependencies import owner_of, predicting_of
from app.api.documentation import problems
from app.api.exchange import Exchange, exchange, response_of
from app.api.express import BareRoute, body_of, documented, names_in, reference_of
from app.api.handlers import problem_of
from app.api.predicting import Content, Predicting
from app.api.schemas.predictions import PredictionsOut
from app.api.schemas.row_formats import contents, query_parameters
from app.formats import ROW_FORMATS, WRITABLE_FORMATS, listed
from relevance_bayes.types.errors import RelevanceError

JSON = b"application/json"
_TELLING = frozenset({b"accept", b"content-type", b"content-encoding"})
_SAID = (b"content-type", JSON)
_ANYTHING = ((b"accept", b"*/*"), (b"accept", JSON))
_USUAL = ([_SAID], *([accept, _SAID] for accept in _ANYTHING), *([_SAID, accept] for accept in _ANYTHING))
"""What is said by all but a few: these take no rules to be understood."""

_PATH = re.compile(r"/v1/models/([^/]+)(?:/versions/([^/]+))?/predict")


class Express:
    """The way of predict calls past the framework, whose own routes tell of them."""

    def __init__(self, predicting: Predicting) -> None:
        self._predicting = predicting

    def takes(self, scope: Scope) -> bool:
        """Whether this is one; then the scope has what its path names."""
        return names_in(scope, _PATH)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if not _is_usual(scope):
                response = await _exchanged(Request(scope, receive), self._predicting)
                await response(scope, receive, send)
                return
            content = await _answer(scope, receive, self._predicting)
        except (RelevanceError, HTTPException) as error:
            response = await problem_of(Request(scope, receive), error)
            await response(scope, receive, send)
            return
        if not isinstance(content, bytes):
            await response_of(content, "application/json")(scope, receive, send)
            return
        headers = [(b"content-length", b"%d" % len(content)), (b"content-type", JSON)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})


_BODY: dict[str, object] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/PredictIn"}},
            **contents(ROW_FORMATS),
        },
    }
}


_DESCRIPTION = f"""One prediction for each row of a table, in their order.

Rows come as {listed(ROW_FORMATS)}, and predictions go out as {listed(WRITABLE_FORMATS)}, whichever Accept weighs most;
NDJSON for NDJSON is answered line by line, as the lines come. Bodies may be packed with gzip, deflate or zstd. The
newest version answers; `model@alias` is answered by the one to which the alias points. A newer version, and a move of
an alias, is seen within a second."""

_ANSWERS: dict[int | str, dict[str, object]] = {
    200: {"content": contents(WRITABLE_FORMATS)},
    **problems(400, 406, 404, 413, 415, 422),
}


router = APIRouter(prefix="/v1/models", tags=["Predictions"], route_class=BareRoute)


@router.post(
    "/{name}/predict",
    summary="Predict with the newest version, or an alias",
    description=_DESCRIPTION,
    response_model=PredictionsOut,
    openapi_extra=documented("name@alias", body=_BODY, query=query_parameters()),
    responses=_ANSWERS,
)
async def predict(request: Request) -> Response:
    """One prediction for each row of a table, in their order, by the newest version or the one an alias points to."""
    return await _responded(request)


@router.post(
    "/{name}/versions/{version}/predict",
    summary="Predict with one version",
    response_model=PredictionsOut,
    openapi_extra=documented("name", "version", body=_BODY, query=query_parameters()),
    responses=_ANSWERS,
)
async def predict_by_version(request: Request) -> Response:
    """One prediction for each row of a table, in their order; the same rows always get the same answer."""
    return await _responded(request)


async def _responded(request: Request) -> Response:
    predicting = predicting_of(request)
    if not _is_usual(request.scope):
        return await _exchanged(request, predicting)
    return response_of(await _answer(request.scope, request.receive, predicting), "application/json")


async def _answer(scope: Scope, receive: Receive, predicting: Predicting) -> Content:
    """JSON for JSON."""
    reference = reference_of(scope)
    return await predicting.answered(scope["state"]["owner"], reference, await body_of(receive), receive)


async def _exchanged(request: Request, predicting: Predicting) -> Response:
    """Any format for any other."""
    reference, owner = reference_of(request.scope), owner_of(request)
    wanted = Exchange.of(request)
    if wanted.is_by_lines:
        return await by_lines(request, predicting, owner, reference, wanted)
    return await exchange(predicting, owner, reference, await body_of(request.receive), wanted, request.receive)


def _is_usual(scope: Scope) -> bool:
    """Whether the body says that it is JSON and no more, and the answer may be."""
    said = [header for header in scope["headers"] if header[0] in _TELLING]
    return said in _USUAL
