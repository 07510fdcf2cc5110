"""Predictions, the hot path: small bodies are answered on the event loop, large ones in a thread, both as bytes."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool

from app.api.answers import outputs_of, predictions_json
from app.api.bodies import checked
from app.api.dependencies import json_body_of, limits_of, owner_of, parts_of
from app.api.documentation import json_body, problems
from app.api.formats.json_table import read_json, typed_block
from app.api.formats.misfits import refuse
from app.api.negotiation import AcceptsJson
from app.api.schemas.predictions import PredictionsOut
from app.api.schemas.requests import PredictOptions
from app.domain.errors import Fault, InvalidRequestError, TooLargeError
from app.domain.tables import block_rows
from app.services.prediction import Prediction, ServedVersion

MOST_BYTES_INLINE = 16_384
"""Bodies up to this size cost less to answer at once than to hand to a thread."""

_OPTIONS: TypeAdapter[PredictOptions] = TypeAdapter(PredictOptions)
_OPTION_NAMES = frozenset(PredictOptions.model_fields)
_DEFAULTS = PredictOptions()

router = APIRouter(prefix="/v1/models", tags=["Predictions"], dependencies=[AcceptsJson])


@router.post(
    "/{name}/predict",
    summary="Predict with the newest version",
    response_model=PredictionsOut,
    openapi_extra=json_body("PredictIn"),
    responses=problems(400, 406, 404, 413, 415, 422),
)
async def predict(name: str, request: Request) -> Response:
    """One prediction for each row of a table, in their order; a newer version is seen within a second."""
    return await _answered(request, name, None)


@router.post(
    "/{name}/versions/{number}/predict",
    summary="Predict with one version",
    response_model=PredictionsOut,
    openapi_extra=json_body("PredictIn"),
    responses=problems(400, 406, 404, 413, 415, 422),
)
async def predict_by_version(name: str, number: Annotated[int, Path(ge=1, le=2**31 - 1)], request: Request) -> Response:
    """One prediction for each row of a table, in their order; the same rows always get the same answer."""
    return await _answered(request, name, number)


async def _answered(request: Request, name: str, number: int | None) -> Response:
    owner, prediction = owner_of(request), parts_of(request).prediction
    most_rows = limits_of(request).max_prediction_rows
    body = await json_body_of(request)
    served = prediction.at_hand(owner, name, number)
    if served is None:
        served = await run_in_threadpool(prediction.version, owner, name, number)
    if len(body) <= MOST_BYTES_INLINE:
        content = _predicted(prediction, served, body, most_rows)
    else:
        content = await run_in_threadpool(_predicted, prediction, served, body, most_rows)
    return Response(content, media_type="application/json")


def _predicted(prediction: Prediction, served: ServedVersion, body: bytes, most_rows: int) -> bytes:
    raw = read_json(body, others=_OPTION_NAMES)
    options = checked(_OPTIONS, raw.others) if raw.others else _DEFAULTS
    outputs = _outputs(served, options)
    block, misfits = typed_block(raw, served.columns, not_read=served.not_read)
    if (rows := block_rows(block)) > most_rows:
        raise TooLargeError(f"The table has {rows} rows, more than {most_rows}; send it in parts.")
    if options.on_error == "refuse":
        refuse(misfits)
    answer = prediction.answer(served, block, interval=options.interval)
    if options.on_error == "refuse":
        refuse(answer.faults)
    # A cell that did not fit is a gap in the block: what is said of the gap adds nothing.
    said = {fault.row for fault in misfits}
    faults = [*misfits, *(fault for fault in answer.faults if fault.row not in said)]
    return predictions_json(served, answer, outputs=outputs, faults=faults)


def _outputs(served: ServedVersion, options: PredictOptions) -> tuple[str, ...]:
    possible = outputs_of(served)
    if options.outputs is None:
        return possible
    faults = [
        Fault(f"A {served.version.report.task} has {', '.join(possible)}.", pointer=f"/outputs/{place}")
        for place, output in enumerate(options.outputs)
        if output not in possible
    ]
    if faults:
        raise InvalidRequestError("This model's predictions don't have such an output.", faults)
    return tuple(dict.fromkeys(options.outputs))
