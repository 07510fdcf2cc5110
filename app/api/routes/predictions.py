"""Predictions, the hot path: small bodies are answered on the event loop, large ones in a thread, both as bytes."""

from collections.abc import Callable, Coroutine

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool

from app.api.answers import outputs_of, predictions_json
from app.api.bodies import checked
from app.api.dependencies import json_body_of, limits_of, owner_of, parts_of
from app.api.documentation import json_body, problems
from app.api.formats.json_table import has_column, read_json, typed_block
from app.api.formats.misfits import refuse
from app.api.negotiation import require_json_accept
from app.api.schemas.predictions import PredictionsOut
from app.api.schemas.requests import PredictOptions
from app.domain.errors import Fault, InvalidRequestError, NotFoundError, TooLargeError
from app.domain.tables import block_rows
from app.services.answering import ServedVersion, Wanted, answer

MOST_BYTES_INLINE = 16_384
"""Bodies up to this size cost less to answer at once than to hand to a thread, but for squares of numbers."""

MOST_FUNCTIONS_INLINE = 1_000
"""Codes of images and long sums have thousands: a few hundred rows of these would keep all others waiting."""

_OPTIONS: TypeAdapter[PredictOptions] = TypeAdapter(PredictOptions)
_OPTION_NAMES = frozenset(PredictOptions.model_fields)
_DEFAULTS = PredictOptions()


class BareRoute(APIRoute):
    """A route whose endpoint gets the request as it is: resolving its dependencies costs more than a prediction."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[None, None, Response]]:
        """The endpoint itself."""
        handler: Callable[[Request], Coroutine[None, None, Response]] = self.endpoint
        return handler


def _documented(*parameters: str) -> dict[str, object]:
    """What FastAPI can't see of a bare route: its body and its path's parameters, names and numbers."""
    kinds = {"name": {"type": "string"}, "number": {"type": "integer", "minimum": 1}}
    described = [{"name": name, "in": "path", "required": True, "schema": kinds[name]} for name in parameters]
    return {**json_body("PredictIn"), "parameters": described}


router = APIRouter(prefix="/v1/models", tags=["Predictions"], route_class=BareRoute)


@router.post(
    "/{name}/predict",
    summary="Predict with the newest version",
    response_model=PredictionsOut,
    openapi_extra=_documented("name"),
    responses=problems(400, 406, 404, 413, 415, 422),
)
async def predict(request: Request) -> Response:
    """One prediction for each row of a table, in their order; a newer version is seen within a second."""
    return await _answered(request, None)


@router.post(
    "/{name}/versions/{number}/predict",
    summary="Predict with one version",
    response_model=PredictionsOut,
    openapi_extra=_documented("name", "number"),
    responses=problems(400, 406, 404, 413, 415, 422),
)
async def predict_by_version(request: Request) -> Response:
    """One prediction for each row of a table, in their order; the same rows always get the same answer."""
    return await _answered(request, _number(request))


def _number(request: Request) -> int:
    text: str = request.path_params["number"]
    if text.isdecimal() and len(text) <= 10 and 0 < (number := int(text)) < 2**31:
        return number
    raise NotFoundError(f"There is no version {text[:40]!r} of model {request.path_params['name']!r}.")


async def _answered(request: Request, number: int | None) -> Response:
    name: str = request.path_params["name"]
    owner, prediction = owner_of(request), parts_of(request).prediction
    require_json_accept(request)
    most_rows = limits_of(request).max_prediction_rows
    body = await json_body_of(request)
    served = prediction.at_hand(owner, name, number)
    if served is None:
        served = await run_in_threadpool(prediction.version, owner, name, number)
    if is_quick(served, body):
        content = _predicted(served, body, most_rows)
    else:
        content = await run_in_threadpool(_predicted, served, body, most_rows)
    return Response(content, media_type="application/json")


def is_quick(served: ServedVersion, body: bytes) -> bool:
    """Whether to answer at once, on the event loop, rather than in a thread."""
    small = len(body) <= MOST_BYTES_INLINE and served.version.report.functions <= MOST_FUNCTIONS_INLINE
    return small and b'"covariance"' not in body


def _predicted(served: ServedVersion, body: bytes, most_rows: int) -> bytes:
    raw = read_json(body, others=_OPTION_NAMES)
    options = checked(_OPTIONS, raw.others) if raw.others else _DEFAULTS
    outputs = _outputs(served, options)
    columns, noise = served.columns, served.answering.noise_column
    if noise is not None and has_column(raw, noise):
        columns = (*columns, (noise, "number"))
    block, misfits = typed_block(raw, columns, not_read=served.not_read)
    if (rows := block_rows(block)) > most_rows:
        raise TooLargeError(f"The table has {rows} rows, more than {most_rows}; send it in parts.")
    if options.on_error == "refuse":
        refuse(misfits)
    wanted = Wanted(options.interval, options.covariance, options.explain, options.deciding, options.components)
    found = answer(served, block, wanted)
    if options.on_error == "refuse":
        refuse(found.faults)
    # A cell that did not fit is a gap in the block: what is said of the gap adds nothing.
    said = {fault.row for fault in misfits}
    faults = [*misfits, *(fault for fault in found.faults if fault.row not in said)]
    return predictions_json(served, found, outputs=outputs, faults=faults)


def _outputs(served: ServedVersion, options: PredictOptions) -> tuple[str, ...]:
    possible = outputs_of(served)
    if options.outputs is None:
        return possible
    faults = [
        Fault(f"A model of {served.version.report.task} answers {', '.join(possible)}.", pointer=f"/outputs/{place}")
        for place, output in enumerate(options.outputs)
        if output not in possible
    ]
    if faults:
        raise InvalidRequestError("This model's predictions don't have such an output.", faults)
    return tuple(dict.fromkeys(options.outputs))
