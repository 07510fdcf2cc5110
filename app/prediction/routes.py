"""Predictions, the hot path: what the framework does for other routes would cost more than the prediction."""

from fastapi import APIRouter, Request, Response
from starlette.types import Receive, Scope, Send

from app.formats import ROW_FORMATS, WRITABLE_FORMATS, listed
from app.http.fast_path import FastPath, RawRoute, documented, reference_of
from app.http.large_bodies import LargeBody
from app.http.openapi import contents, problems
from app.prediction.json_codec import JsonCodec
from app.prediction.line_streaming import stream_lines
from app.prediction.query import query_parameters
from app.prediction.responses import PredictionsOut
from app.prediction.runner import Codec, DeferredCodec, PredictionRunner, runner_of
from app.prediction.table_codec import ContentNegotiation, TableCodec, response_of, version_link

JSON = b"application/json"
_NEGOTIATED = frozenset({b"accept", b"content-type", b"content-encoding"})
MODELS = "/v1/models"
_SENT = (b"content-type", JSON)
_ANYTHING = ((b"accept", b"*/*"), (b"accept", JSON))
_USUAL = ([_SENT], *([accept, _SENT] for accept in _ANYTHING), *([_SENT, accept] for accept in _ANYTHING))
"""The negotiating headers of JSON for JSON as nearly all send them."""

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

Rows come as {listed(ROW_FORMATS)}, and predictions are sent as {listed(WRITABLE_FORMATS)}, by Accept;
NDJSON for NDJSON is streamed line by line. Bodies may be compressed with gzip, deflate or zstd. The newest version
predicts; `model@alias` is the version to which the alias points. A newer version, and a move of an alias, takes effect
within a second."""

_RESPONSES: dict[int | str, dict[str, object]] = {
    200: {"content": contents(WRITABLE_FORMATS)},
    **problems(400, 406, 404, 413, 415, 422),
}


router = APIRouter(prefix=MODELS, tags=["Predictions"], route_class=RawRoute)


@router.post(
    "/{name}/predict",
    summary="Predict with the newest version, or an alias",
    description=_DESCRIPTION,
    response_model=PredictionsOut,
    openapi_extra=documented("name@alias", body=_BODY, query=query_parameters()),
    responses=_RESPONSES,
)
async def predict(request: Request) -> Response:
    """One prediction for each row of a table, in their order, by the newest version or the one an alias points to."""
    return await _respond(request)


@router.post(
    "/{name}/versions/{version}/predict",
    summary="Predict with one version",
    response_model=PredictionsOut,
    openapi_extra=documented("name", "version", body=_BODY, query=query_parameters()),
    responses=_RESPONSES,
)
async def predict_by_version(request: Request) -> Response:
    """Return one prediction for each row of a table, in their order; the same rows always have the same predictions."""
    return await _respond(request)


async def _respond(request: Request) -> Response:
    found = await _predicted(request.scope, request.receive, runner_of(request))
    return found if isinstance(found, Response) else Response(found, media_type="application/json")


async def _predicted(scope: Scope, receive: Receive, runner: PredictionRunner) -> Response | bytes:
    """The response, of a short one in JSON for JSON its body."""
    owner, reference = scope["state"]["principal"].owner, reference_of(scope)
    headers = [header for header in scope["headers"] if header[0] in _NEGOTIATED]
    if headers in _USUAL:
        body = await runner.bodies.receive(receive)
        try:
            served = await runner.served(owner, reference)
            content = runner.content(*await runner.predict(served, _json_codec(body, runner.max_rows), receive))
        finally:
            if not isinstance(body, bytes):
                body.close()
        return content if isinstance(content, bytes) else response_of(content, "application/json")
    request = Request(scope, receive)
    negotiated = ContentNegotiation.of(request)
    if negotiated.is_by_lines:
        return await stream_lines(request, runner, await runner.served(owner, reference), negotiated)
    body = await runner.bodies.receive(receive)
    try:
        served = await runner.served(owner, reference)
        content = runner.content(*await runner.predict(served, _table_codec(body, negotiated, runner), receive))
    finally:
        if not isinstance(body, bytes):
            body.close()
    return response_of(content, negotiated.response.media_type, version_link(served))


def _json_codec(body: bytes | LargeBody, max_rows: int) -> Codec[bytes]:
    if isinstance(body, bytes):
        return JsonCodec(body, max_rows)
    return DeferredCodec(body, lambda content: JsonCodec(content, max_rows))


def _table_codec(body: bytes | LargeBody, negotiated: ContentNegotiation, runner: PredictionRunner) -> Codec[bytes]:
    if isinstance(body, bytes):
        return TableCodec(body, negotiated, runner.max_rows, runner.max_bytes)
    return DeferredCodec(body, lambda content: TableCodec(content, negotiated, runner.max_rows, runner.max_bytes))


def fast_path(runner: PredictionRunner) -> FastPath:
    """Predict calls past the framework."""

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        found = await _predicted(scope, receive, runner)
        if isinstance(found, Response):
            await found(scope, receive, send)
            return
        headers = [(b"content-length", b"%d" % len(found)), (b"content-type", JSON)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": found})

    return FastPath(MODELS, "predict", respond)
