"""Requests of the Open Inference Protocol become rows to predict for, predictions become tensors of a response."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import msgspec
import orjson

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cells import refuse
from app.inference.requests import BINARY_SIZE, InferenceOptions, InferenceRequest, read_request
from app.inference.signature import Output, block_of, inputs_of, outputs_of, tensors_of
from app.inference.tensors import TEXT, Tensor, from_bytes, to_bytes, to_json
from app.prediction import USUAL, PredictRequest, ServedVersion
from app.prediction.json_codec import max_containers
from app.prediction.predict import RowIds, check_row_ids
from app.prediction.runner import YieldGil, is_read_quickly, no_yield
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.tables.columns import block_rows
from relevance_bayes.tasks.cancellation import check_cancelled
from relevance_bayes.tasks.prediction import PredictOptions, RowPredictions

_CUT = b"\0"
"""The placeholder of a tensor's values in a template; JSON has no such byte."""

Piece: TypeAlias = bytes | memoryview

MAX_JOINED_BYTES = 131_072
"""The maximum size of a body that is joined into one chunk."""

_Output: TypeAlias = tuple[str, str, tuple[int, ...], bytes, int | None]
"""Name, data type, shape, parameters in JSON, and the size in bytes of a binary tensor."""


@dataclass(frozen=True, eq=False)
class InferenceResponse:
    """The outputs, and the names of the binary ones.

    `averaged` are the names and lists in JSON of the cells by which rows are averages: `unknown_categories`, `nulls`.
    """

    model: str
    version: str
    id: str | None
    outputs: tuple[Output, ...]
    are_binary: tuple[bool, ...]
    averaged: tuple[tuple[str, str], ...] = ()


def _render_response(
    response: InferenceResponse, *, yield_gil: Callable[[], None] = check_cancelled
) -> tuple[Sequence[Piece], int | None]:
    """Return the body in chunks, and the number of its first bytes that are JSON, None for all.

    `yield_gil` is called between the chunks of long tensors.
    """
    outputs: list[_Output] = []
    values: list[list[bytes]] = []
    contents: list[Piece] = []
    for (tensor, parameters), is_binary in zip(response.outputs, response.are_binary, strict=True):
        given, size = orjson.dumps(parameters) if parameters else b"", None
        if is_binary:
            contents.append(content := to_bytes(tensor))
            size = len(content)
        else:
            values.append(to_json(tensor, yield_gil=yield_gil))
        outputs.append((tensor.name, tensor.datatype, tensor.shape, given, size))
    # The id differs in each request, so its templates are not cached.
    cells = response.averaged
    template = _template if response.id is None and not cells else _template.__wrapped__
    parts = template(response.model, response.version, response.id, cells, tuple(outputs))
    pieces: list[Piece] = [parts[0]]
    for theirs, part in zip(values, parts[1:], strict=True):
        pieces += theirs
        pieces.append(part)
    length = sum(map(len, pieces)) if contents else None
    pieces += contents
    return (pieces if sum(map(len, pieces)) > MAX_JOINED_BYTES else (b"".join(pieces),)), length


@lru_cache(maxsize=512)
def _template(
    model: str, version: str, request_id: str | None, averaged: tuple[tuple[str, str], ...], outputs: Sequence[_Output]
) -> Sequence[bytes]:
    """Return the JSON before, between and after the values of the tensors in it."""
    whole: dict[str, object] = {"model_name": model, "model_version": version}
    if request_id is not None:
        whole["id"] = request_id
    if averaged:
        whole["parameters"] = dict(averaged)
    each = []
    for name, datatype, shape, given, size in outputs:
        parameters: dict[str, object] = orjson.loads(given) if given else {}
        one: dict[str, object] = {"name": name, "datatype": datatype, "shape": shape}
        if size is None:
            one["data"] = orjson.Fragment(_CUT)
        else:
            parameters[BINARY_SIZE] = size
        each.append({**one, "parameters": parameters} if parameters else one)
    return tuple(orjson.dumps({**whole, "outputs": each}).split(_CUT))


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
        self, served: ServedVersion, request: PredictRequest, prediction: RowPredictions
    ) -> Iterator[RenderedTensors]:
        """Yield the JSON, and the binary tensors after it."""
        response = response_of(served, self._options, prediction)
        yield RenderedTensors(*_render_response(response, yield_gil=self._yield_gil))

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


def response_of(served: ServedVersion, options: InferenceOptions, prediction: RowPredictions) -> InferenceResponse:
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
