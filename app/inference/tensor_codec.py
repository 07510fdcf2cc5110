"""Requests of the Open Inference Protocol: tensors become rows to predict for, predictions become tensors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cell_faults import refuse
from app.inference.messages import read_request
from app.inference.records import InferenceOptions, InferenceRequest
from app.inference.responses import InferenceResponse, Piece, render_response
from app.inference.signature import block_of, inputs_of, outputs_of, tensors_of
from app.inference.tensors import TEXT, Tensor, from_bytes
from app.prediction import USUAL, PredictRequest, ServedVersion
from app.prediction.json_codec import max_containers
from app.prediction.row_ids import RowIds, check_row_ids
from app.prediction.runner import YieldGil, is_read_quickly, no_yield
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.tables.columns import block_rows
from relevance_bayes.tasks.options import PredictOptions
from relevance_bayes.tasks.prediction import Prediction


@dataclass(frozen=True)
class RenderedTensors:
    """The body of a response in chunks, and the number of its first bytes that are JSON, None for all."""

    pieces: Sequence[Piece]
    header_length: int | None

    @property
    def length(self) -> int:
        """Return the size of the body in bytes."""
        return sum(map(len, self.pieces))


class TensorCodec:
    """The codec of a body whose first `header_length` bytes are JSON: None for all, 0 where the body is the values of
    the only input."""

    def __init__(self, body: bytes, header_length: int | None, max_rows: int) -> None:
        self._body = body
        self._header_length = header_length
        self._max_rows = max_rows
        self._options = InferenceOptions()
        self._yield_gil: YieldGil = no_yield

    def read_inline(self, served: ServedVersion) -> PredictRequest | None:
        """Read a body of few rows, which needs no thread."""
        return self._read(served) if is_read_quickly(served, len(self._body)) else None

    def is_small(self, served: ServedVersion) -> bool:
        """Return False: small bodies need no thread."""
        return False

    def read(self, served: ServedVersion, yield_gil: YieldGil) -> PredictRequest:
        """Read the body; raises what is wrong with it."""
        self._yield_gil = yield_gil
        return self._read(served)

    def render(
        self, served: ServedVersion, request: PredictRequest, prediction: Prediction
    ) -> Iterator[RenderedTensors]:
        """Yield the JSON, and the binary tensors after it."""
        response = response_of(served, self._options, prediction)
        yield RenderedTensors(*render_response(response, yield_gil=self._yield_gil))

    def _read(self, served: ServedVersion) -> PredictRequest:
        if self._header_length == 0:
            requested = _only_input(served, self._body)
        else:
            containers = max_containers(self._max_rows)
            requested = read_request(
                self._body, self._header_length, max_containers=containers, yield_gil=self._yield_gil
            )
        self._options = requested.options
        return request_of(served, requested, self._max_rows)


def request_of(served: ServedVersion, requested: InferenceRequest, max_rows: int) -> PredictRequest:
    """Return the rows in the tensors of a request; raises what is wrong with them."""
    inputs, row_ids = _separated(requested)
    block, cell_faults = block_of(served, inputs)
    if (rows := block_rows(block)) > max_rows:
        raise TooLargeError(f"Expected at most {max_rows} rows, got {rows}; split the request.")
    if rows == 0:
        raise MalformedBodyError("The tensors have no rows.")
    refuse(cell_faults)
    if row_ids:
        check_row_ids(row_ids, rows)
    return PredictRequest(block, _options(requested.options), refuses=True, row_ids=row_ids)


def _separated(requested: InferenceRequest) -> tuple[Sequence[Tensor], RowIds]:
    """Return the inputs without that of the row ids, and these; raises MalformedBodyError where they are no texts."""
    name = requested.options.row_ids
    if name is None:
        return requested.inputs, ()
    for tensor in requested.inputs:
        if tensor.name == name and isinstance(tensor.values, tuple):
            return [other for other in requested.inputs if other is not tensor], tensor.values
    raise MalformedBodyError(f"Expected row ids in an input {name!r} of data type {TEXT}.")


AVERAGED_CELLS = ("unknown_categories", "nulls")
"""The members of a prediction with the cells by which rows are averages."""


def response_of(served: ServedVersion, options: InferenceOptions, prediction: Prediction) -> InferenceResponse:
    """Return the requested outputs; raises MalformedBodyError for unknown ones."""
    found = tensors_of(prediction, options.names)
    names = options.names or tuple(found)
    unknown = [name for name in names if name not in found]
    if unknown:
        known = ", ".join(kind.name for kind in outputs_of(served))
        raise MalformedBodyError(f"Expected outputs among {known}; got {unknown[0]!r}.")
    version, binary = served.version, options.binary_names
    joint = prediction.joint_members()
    return InferenceResponse(
        version.model,
        str(version.number),
        options.id,
        tuple([found[name] for name in names]),
        tuple([name in binary if options.names else options.binary for name in names]),
        tuple((name, msgspec.json.encode(joint[name]).decode()) for name in AVERAGED_CELLS if name in joint),
    )


def _only_input(served: ServedVersion, body: bytes) -> InferenceRequest:
    """Return the request for a body of only the values of the only input."""
    only, *others = inputs_of(served)
    if others:
        raise MalformedBodyError(f"Expected JSON before the tensors of {1 + len(others)} inputs, got none.")
    width = 8
    for length in only.shape[1:]:
        width *= length
    tensor = from_bytes(only.name, only.datatype, (len(body) // width, *only.shape[1:]), memoryview(body))
    return InferenceRequest((tensor,), InferenceOptions(binary=True))


def _options(options: InferenceOptions) -> PredictOptions:
    interval, unknown, nulls = options.interval, options.unknown_categories, options.nulls
    if interval is None and unknown is None and nulls is None:
        return USUAL
    if interval is None:
        interval = USUAL.interval
    if not 0.0 < interval < 1.0:
        raise _refused("interval", f"a probability between 0 and 1, got {interval}")
    return PredictOptions(
        interval, unknown_categories=_treatment("unknown_categories", unknown), nulls=_treatment("nulls", nulls)
    )


def _treatment(name: str, given: str | None) -> Literal["average", "error"]:
    match given:
        case None | "average":
            return "average"
        case "error":
            return "error"
    raise _refused(name, f'"average" or "error", got {given!r}')


def _refused(name: str, expected: str) -> InvalidRequestError:
    detail = f"The parameter `{name}`: expected {expected}."
    return InvalidRequestError(detail, [Fault(detail, f"/parameters/{name}")])
