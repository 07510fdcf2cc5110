"""Inference requests as one body: JSON, then the binary tensors."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Generic, TypeVar

import msgspec

from app.errors import MalformedBodyError
from app.formats.json_body import check_containers, check_members
from app.http.bodies import MAX_MEMBERS
from app.inference.tensors import (
    FLOATS,
    PIECE_BYTES,
    Tensor,
    check_shape,
    from_bytes,
    from_json,
    from_part,
    from_values,
)
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.records.json import as_integer
from relevance_bayes.tasks.cancellation import check_cancelled


@dataclass(frozen=True)
class RequestedOutput:
    """A requested output; `binary` None: the request does not specify it."""

    name: str
    binary: bool | None


@dataclass(frozen=True)
class InferenceOptions:
    """Options of a request; `outputs` None: all of them, `binary` for outputs without an option of their own.

    `row_ids` is the input that has the ids of the rows, None for none; `unknown_categories` and `nulls` as of predict
    calls, None for the default.
    """

    id: str | None = None
    outputs: tuple[RequestedOutput, ...] | None = None
    binary: bool = False
    interval: float | None = None
    row_ids: str | None = None
    unknown_categories: str | None = None
    nulls: str | None = None

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """Return the requested outputs, None for all."""
        return tuple(output.name for output in self.outputs) if self.outputs else None

    @cached_property
    def binary_names(self) -> frozenset[str]:
        """Return the outputs whose values are sent as bytes."""
        return frozenset(
            output.name for output in self.outputs or () if (self.binary if output.binary is None else output.binary)
        )


@dataclass(frozen=True, eq=False)
class InferenceRequest:
    """The input tensors, and the options."""

    inputs: tuple[Tensor, ...]
    options: InferenceOptions


BINARY_SIZE = "binary_data_size"
BINARY = "binary_data"
ALL_BINARY = "binary_data_output"
UNSUPPORTED = frozenset({"shared_memory_region", "classification", "sequence_id"})
"""Parameters that are refused rather than ignored, since they would change the response."""

T = TypeVar("T", bool, int, float, str)
Data = TypeVar("Data", msgspec.Raw, list[float])


class JsonTensor(msgspec.Struct, Generic[Data]):
    """A tensor, whose values are yet to be decoded or are numbers in one list."""

    name: str
    shape: list[int | float]
    datatype: str
    parameters: dict[str, msgspec.Raw] | None = None
    data: Data | msgspec.UnsetType = msgspec.UNSET


class JsonOutput(msgspec.Struct):
    """A requested output."""

    name: str
    parameters: dict[str, msgspec.Raw] | None = None


class JsonRequest(msgspec.Struct, Generic[Data]):
    """A request, except for binary tensors."""

    inputs: list[JsonTensor[Data]]
    id: str | None = None
    parameters: dict[str, msgspec.Raw] | None = None
    outputs: list[JsonOutput] | None = None


FLAT_FLOATS = msgspec.json.Decoder(JsonRequest[list[float]])


def options_of(requested: JsonRequest[list[float]] | JsonRequest[msgspec.Raw]) -> InferenceOptions:
    """Return the options of a request; raises MalformedBodyError."""
    given = requested.parameters or {}
    _refuse_unsupported(given)
    return InferenceOptions(
        requested.id,
        None if requested.outputs is None else tuple(_required(one) for one in requested.outputs),
        bool(_parameter(given, ALL_BINARY, bool)),
        _parameter(given, "interval", float),
        _parameter(given, "row_ids", str),
        _parameter(given, "unknown_categories", str),
        _parameter(given, "nulls", str),
    )


def _required(output: JsonOutput) -> RequestedOutput:
    given = output.parameters or {}
    _refuse_unsupported(given)
    return RequestedOutput(output.name, _parameter(given, BINARY, bool))


def shape_of(tensor: JsonTensor[list[float]] | JsonTensor[msgspec.Raw]) -> list[int]:
    """Return the shape; raises MalformedBodyError for lengths that are not integers; 3.0 is accepted."""
    check_shape(tensor.name, tensor.shape)
    integers = [length for length in tensor.shape if isinstance(length, int)]
    if len(integers) == len(tensor.shape):
        return integers
    whole = [length for length in map(as_integer, tensor.shape) if isinstance(length, int)]
    if len(whole) < len(tensor.shape):
        raise MalformedBodyError(f"Tensor {tensor.name!r}: expected integer lengths of axes, got {tensor.shape[:8]}.")
    return whole


def _integer_of(given: Mapping[str, msgspec.Raw], name: str) -> int | None:
    """Return a parameter that is an integer, None where it is missing; raises MalformedBodyError for any other."""
    number = _parameter(given, name, float)
    whole = as_integer(number)
    if number is None or isinstance(whole, int):
        return whole if isinstance(whole, int) else None
    raise MalformedBodyError(f"The parameter `{name}`: expected int.")


def _refuse_unsupported(given: Mapping[str, msgspec.Raw]) -> None:
    """Raise MalformedBodyError for too many parameters, or one of an unsupported extension."""
    if len(given) > MAX_MEMBERS:
        raise MalformedBodyError(f"Expected at most {MAX_MEMBERS:,} parameters, got {len(given):,}.")
    for name in UNSUPPORTED & given.keys():
        raise MalformedBodyError(f"The parameter `{name}` is of an unsupported extension.")


def _parameter(given: Mapping[str, msgspec.Raw], name: str, required: type[T]) -> T | None:
    if name not in given:
        return None
    try:
        return msgspec.json.decode(given[name], type=required)
    except msgspec.DecodeError as error:
        raise MalformedBodyError(f"The parameter `{name}`: expected {required.__name__}.") from error


_DATA = re.compile(rb'"data"\s*:\s*\[')
"""The beginning of a tensor's values: a key, since in a string quotation marks have backslashes, which no plan has."""

_FLOATS = msgspec.json.Decoder(list[float])

MAX_PLAN_BYTES = 2_048
"""The maximum size of the JSON without values; plans for the latest shapes are cached."""


@dataclass(frozen=True, eq=False)
class _Plan:
    """A request without the values of its tensors: name, data type, shape and, of binary ones, size in bytes."""

    inputs: tuple[tuple[str, str, tuple[int, ...], int | None], ...]
    options: InferenceOptions


def read_by_plan(
    body: bytes, header_length: int | None, max_containers: int, yield_gil: Callable[[], None]
) -> InferenceRequest | None:
    """Return the request where its JSON, except for the values, was parsed before; None for any other or invalid one.

    Without plans a one-row request costs 1.2 times the CPU in process, a binary one 1.4 times. The values of a long
    request are decoded from the body in chunks.
    """
    if header_length is None:
        if (found := _DATA.search(body, 0, MAX_PLAN_BYTES)) is None:
            return None
        first, last = found.end(), body.find(b"]", found.end())
        if last < 0 or len(body) - last > MAX_PLAN_BYTES:
            return None
        plan = _plan(body[:first] + body[last:], max_containers)
        if plan is None or len(plan.inputs) != 1 or plan.inputs[0][3] is not None:
            return None
        name, datatype, shape, _ = plan.inputs[0]
        with suppress(msgspec.DecodeError, UnicodeDecodeError, MalformedBodyError):
            if last - first > PIECE_BYTES:
                tensor = from_part(name, datatype, shape, body, first, last, yield_gil=yield_gil)
                return None if tensor is None else InferenceRequest((tensor,), plan.options)
            values = _FLOATS.decode(body[first - 1 : last + 1])
            return InferenceRequest((from_values(name, datatype, shape, values),), plan.options)
        return None
    if not 0 < header_length <= min(MAX_PLAN_BYTES, len(body)):
        return None
    plan = _plan(body[:header_length], max_containers)
    if plan is None:
        return None
    content, place, tensors = memoryview(body), header_length, list[Tensor]()
    for name, datatype, shape, size in plan.inputs:
        if size is None or place + size > len(body):
            return None
        with suppress(MalformedBodyError):
            tensors.append(from_bytes(name, datatype, shape, content[place : place + size]))
        place += size
    return (
        InferenceRequest(tuple(tensors), plan.options)
        if place == len(body) and len(tensors) == len(plan.inputs)
        else None
    )


@lru_cache(maxsize=512)
def _plan(text: bytes, max_containers: int) -> _Plan | None:
    """Return the plan, None where the JSON is invalid or has values."""
    if b"\\" in text or text.count(b'"data"') > 1:
        return None
    try:
        check_containers(text, max_containers)
        check_members(text, MAX_MEMBERS)
        requested = FLAT_FLOATS.decode(text)
        inputs = []
        for one in requested.inputs:
            given = one.parameters or {}
            _refuse_unsupported(given)
            size = _integer_of(given, BINARY_SIZE) if given else None
            is_bare = one.data == [] and one.datatype in FLOATS
            if (size is None) == (one.data is msgspec.UNSET) or (size is None and not is_bare) or (size or 0) < 0:
                return None
            inputs.append((one.name, one.datatype, tuple(shape_of(one)), size))
        if len({name for name, *_ in inputs}) < len(inputs):
            return None
        return _Plan(tuple(inputs), options_of(requested))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, RelevanceError):
        return None


_REQUEST = msgspec.json.Decoder(JsonRequest[msgspec.Raw])


def read_request(
    body: bytes,
    header_length: int | None,
    *,
    max_containers: int,
    yield_gil: Callable[[], None] = check_cancelled,
) -> InferenceRequest:
    """Return the request in a body whose first `header_length` bytes are JSON, None for all of it.

    `yield_gil` is called between the chunks of a long list of values.

    Raises MalformedBodyError, InvalidDataError for an object of too many members, and TooLargeError for more than
    `max_containers` objects and arrays.
    """
    if (planned := read_by_plan(body, header_length, max_containers, yield_gil)) is not None:
        return planned
    length = len(body) if header_length is None else header_length
    if not 0 < length <= len(body):
        raise MalformedBodyError(f"Expected {length} bytes of JSON, got a body of {len(body)} bytes.")
    text = body[:length]
    check_containers(text, max_containers)
    check_members(text, MAX_MEMBERS)
    try:
        requested = _decoded(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedBodyError(f"The request can't be parsed: {error}.") from error
    options = options_of(requested)
    return InferenceRequest(_tensors(requested.inputs, memoryview(body)[length:], yield_gil), options)


def _decoded(given: bytes) -> JsonRequest[list[float]] | JsonRequest[msgspec.Raw]:
    """Return the decoded JSON; raises msgspec.DecodeError."""
    # A small body is decoded at once. The values of a large one are decoded in chunks.
    if len(given) <= PIECE_BYTES:
        with suppress(msgspec.ValidationError):
            flat = FLAT_FLOATS.decode(given)
            if all(tensor.datatype in FLOATS for tensor in flat.inputs):
                return flat
    return _REQUEST.decode(given)


def _tensors(
    requested: Sequence[JsonTensor[list[float]] | JsonTensor[msgspec.Raw]],
    content: memoryview,
    yield_gil: Callable[[], None],
) -> tuple[Tensor, ...]:
    tensors: list[Tensor] = []
    place = 0
    for one in requested:
        given, shape = one.parameters or {}, shape_of(one)
        _refuse_unsupported(given)
        size = _integer_of(given, BINARY_SIZE) if given else None
        if (size is None) == (one.data is msgspec.UNSET):
            raise MalformedBodyError(f"Tensor {one.name!r}: expected either `data` or the parameter `{BINARY_SIZE}`.")
        if size is not None:
            if not 0 <= size <= len(content) - place:
                left = len(content) - place
                raise MalformedBodyError(f"Tensor {one.name!r}: expected {size} bytes, got {left}.")
            tensors.append(from_bytes(one.name, one.datatype, shape, content[place : place + size]))
            place += size
        elif isinstance(one.data, list):
            tensors.append(from_values(one.name, one.datatype, shape, one.data))
        elif isinstance(one.data, msgspec.Raw):
            tensors.append(from_json(one.name, one.datatype, shape, bytes(one.data), yield_gil=yield_gil))
    if place != len(content):
        raise MalformedBodyError(f"Expected no bytes after the tensors, got {len(content) - place}.")
    if len({tensor.name for tensor in tensors}) < len(tensors):
        raise MalformedBodyError("Expected distinct names of inputs, got one twice.")
    return tuple(tensors)
