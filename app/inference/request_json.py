"""The JSON of inference requests: its members, options and parameters."""

from collections.abc import Mapping
from typing import Generic, TypeVar

import msgspec

from app.errors import MalformedBodyError
from app.http.bodies import MAX_MEMBERS
from app.inference.records import InferenceOptions, RequestedOutput
from app.inference.tensors import check_shape
from relevance_bayes.records.json import as_integer

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
    refuse_unsupported(given)
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
    refuse_unsupported(given)
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


def integer_of(given: Mapping[str, msgspec.Raw], name: str) -> int | None:
    """Return a parameter that is an integer, None where it is missing; raises MalformedBodyError for any other."""
    number = _parameter(given, name, float)
    whole = as_integer(number)
    if number is None or isinstance(whole, int):
        return whole if isinstance(whole, int) else None
    raise MalformedBodyError(f"The parameter `{name}`: expected int.")


def refuse_unsupported(given: Mapping[str, msgspec.Raw]) -> None:
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
