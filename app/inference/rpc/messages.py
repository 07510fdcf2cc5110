"""Inference requests and responses in protocol buffers, of a limited number of fields."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from app.errors import MalformedBodyError, TooLargeError
from app.inference.requests import UNSUPPORTED, InferenceOptions, InferenceRequest, RequestedOutput
from app.inference.rpc.generated.open_inference_pb2 import (
    InferParameter,
    InferTensorContents,
    ModelInferRequest,
    ModelInferResponse,
)
from app.inference.tensor_codec import InferenceResponse, request_of, response_of
from app.inference.tensors import TEXT, Tensor, check_count, from_bytes, from_values, size_of, to_bytes
from app.prediction import PredictRequest, ServedVersion
from app.prediction.runner import YieldGil, is_read_quickly
from relevance_bayes.tasks.prediction import RowPredictions

Reported = Mapping[str, InferParameter]

CONTENTS: Mapping[str, str] = {
    "BOOL": "bool_contents",
    **dict.fromkeys(("INT8", "INT16", "INT32"), "int_contents"),
    "INT64": "int64_contents",
    **dict.fromkeys(("UINT8", "UINT16", "UINT32"), "uint_contents"),
    "UINT64": "uint64_contents",
    "FP32": "fp32_contents",
    "FP64": "fp64_contents",
    TEXT: "bytes_contents",
}
"""The member with the values of each data type; FP16 has only raw contents."""


def read_request(requested: ModelInferRequest) -> InferenceRequest:
    """Return the request; raises MalformedBodyError."""
    _refuse(requested.parameters)
    if len({tensor.name for tensor in requested.inputs}) < len(requested.inputs):
        raise MalformedBodyError("Expected distinct names of inputs, got one twice.")
    return InferenceRequest(
        _tensors(requested),
        InferenceOptions(
            requested.id or None,
            tuple(_required(output.name, output.parameters) for output in requested.outputs) or None,
            binary=True,
            interval=_interval(requested.parameters),
            row_ids=_text(requested.parameters, "row_ids"),
            unknown_categories=_text(requested.parameters, "unknown_categories"),
            nulls=_text(requested.parameters, "nulls"),
        ),
    )


def _tensors(requested: ModelInferRequest) -> tuple[Tensor, ...]:
    for tensor in requested.inputs:
        _refuse(tensor.parameters)
    raw = requested.raw_input_contents
    if not raw:
        return tuple(_typed(one.name, one.datatype, one.shape, one.contents) for one in requested.inputs)
    if len(raw) != len(requested.inputs):
        raise MalformedBodyError(f"Expected raw contents of {len(requested.inputs)} inputs, got {len(raw)}.")
    for one in requested.inputs:
        if one.HasField("contents"):
            raise MalformedBodyError(f"Tensor {one.name!r}: expected either typed or raw contents, got both.")
    return tuple(
        from_bytes(one.name, one.datatype, one.shape, memoryview(content))
        for one, content in zip(requested.inputs, raw, strict=True)
    )


def _typed(name: str, datatype: str, shape: Sequence[int], contents: InferTensorContents) -> Tensor:
    place = CONTENTS.get(datatype)
    if place is None:
        raise MalformedBodyError(f"Tensor {name!r}: expected a data type of {', '.join(CONTENTS)}, got {datatype!r}.")
    if others := [field.name for field, _ in contents.ListFields() if field.name != place]:
        raise MalformedBodyError(f"Tensor {name!r}: expected {datatype} in {place}, got {others[0]}.")
    if datatype == TEXT:
        check_count(name, shape, size_of(name, datatype, shape), len(contents.bytes_contents))
        return from_values(name, datatype, shape, _texts(name, contents.bytes_contents))
    values: Sequence[float] = getattr(contents, place)
    check_count(name, shape, size_of(name, datatype, shape), len(values))  # checked before the values become objects
    return from_values(name, datatype, shape, list(values))


def _texts(name: str, contents: Sequence[bytes]) -> list[str]:
    try:
        return [text.decode() for text in contents]
    except UnicodeDecodeError as error:
        raise MalformedBodyError(f"Tensor {name!r}: a text is not UTF-8.") from error


def _required(name: str, given: Reported) -> RequestedOutput:
    _refuse(given)
    return RequestedOutput(name, None)


def _refuse(given: Reported) -> None:
    for name in sorted(UNSUPPORTED & {*given}):
        raise MalformedBodyError(f"The parameter `{name}` is of an unsupported extension.")


def _interval(given: Reported) -> float | None:
    if "interval" not in given:
        return None
    if given["interval"].WhichOneof("parameter_choice") != "double_param":
        raise MalformedBodyError("The parameter `interval`: expected a double.")
    return given["interval"].double_param


def _text(given: Reported, name: str) -> str | None:
    if name not in given:
        return None
    if given[name].WhichOneof("parameter_choice") != "string_param":
        raise MalformedBodyError(f"The parameter `{name}`: expected a string.")
    return given[name].string_param


class RpcCodec:
    """The codec of a message with tensors."""

    def __init__(self, message: ModelInferRequest, max_rows: int) -> None:
        self._message = message
        self._max_rows = max_rows
        self._options = InferenceOptions()

    def read_inline(self, served: ServedVersion) -> PredictRequest | None:
        """Read a message of few rows, which needs no thread."""
        return self._read(served) if is_read_quickly(served, self._message.ByteSize()) else None

    def is_small(self, served: ServedVersion) -> bool:
        """Return False: small messages need no thread."""
        return False

    def read(self, served: ServedVersion, yield_gil: YieldGil) -> PredictRequest:
        """Read the message; raises what is wrong with it."""
        return self._read(served)

    def render(
        self, served: ServedVersion, request: PredictRequest, prediction: RowPredictions
    ) -> Iterator[ModelInferResponse]:
        """Yield one message."""
        yield _write_response(response_of(served, self._options, prediction))

    def _read(self, served: ServedVersion) -> PredictRequest:
        requested = read_request(self._message)
        self._options = requested.options
        return request_of(served, requested, self._max_rows)


def _write_response(response: InferenceResponse) -> ModelInferResponse:
    """Return tensors as raw contents, which cost next to nothing."""
    outputs = [
        ModelInferResponse.InferOutputTensor(
            name=tensor.name,
            datatype=tensor.datatype,
            shape=tensor.shape,
            parameters={name: _parameter(value) for name, value in parameters.items()},
        )
        for tensor, parameters in response.outputs
    ]
    return ModelInferResponse(
        parameters={name: _parameter(cells) for name, cells in response.averaged},
        model_name=response.model,
        model_version=response.version,
        id=response.id or "",
        outputs=outputs,
        raw_output_contents=[bytes(to_bytes(tensor)) for tensor, _ in response.outputs],
    )


def _parameter(value: object) -> InferParameter:
    """Return a value as a parameter; lists, which parameters can't be, as JSON."""
    return InferParameter(string_param=value if isinstance(value, str) else msgspec.json.encode(value).decode())


MAX_FIELDS = 1_000_000
"""The maximum number of fields of a message and its submessages: each string is one field, packed numbers are one
together."""

VARINT, FIXED_64, LENGTH_DELIMITED, FIXED_32 = 0, 1, 2, 5

Submessages: TypeAlias = "Mapping[int, Submessages]"
"""The field numbers of submessages, each with those of its own."""

OF_INFERENCE: Submessages = {5: {5: {}}}
"""The submessages of ModelInferRequest: `inputs`, and their `contents`."""


def check_fields(content: bytes, submessages: Submessages, max_fields: int = MAX_FIELDS) -> None:
    """Raise TooLargeError for a message of too many fields; the parser reports malformed ones."""
    fields = 0
    pending = [(0, len(content), submessages)]
    while pending:
        place, end, inner = pending.pop()
        while place < end:
            fields += 1
            if fields > max_fields:
                raise TooLargeError(f"Expected at most {max_fields:,} fields in the message, got more.")
            tag, place = _varint(content, place, end)
            kind, length = tag & 7, 0
            if kind == LENGTH_DELIMITED:
                length, place = _varint(content, place, end)
                if (nested := inner.get(tag >> 3)) is not None and place + length <= end:
                    pending.append((place, place + length, nested))
            elif kind == VARINT:
                _, place = _varint(content, place, end)
            elif kind in {FIXED_64, FIXED_32}:
                length = 8 if kind == FIXED_64 else 4
            else:
                return
            place += length


def _varint(content: bytes, place: int, end: int) -> tuple[int, int]:
    """Return the integer at `place` (seven bits a byte, least significant first) and the position after it."""
    number = shift = 0
    while place < end and shift < 70:
        byte = content[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    return number, place
