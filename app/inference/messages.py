"""Inference requests as one body: JSON, then the binary tensors."""

from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from app.errors import MalformedBodyError
from app.formats.json_body import check_containers, check_members
from app.http.bodies import MAX_MEMBERS
from app.inference.records import InferenceRequest
from app.inference.request_json import (
    BINARY_SIZE,
    FLAT_FLOATS,
    JsonRequest,
    JsonTensor,
    integer_of,
    options_of,
    refuse_unsupported,
    shape_of,
)
from app.inference.request_plans import read_by_plan
from app.inference.tensor_json import PIECE_BYTES, from_json
from app.inference.tensors import FLOATS, Tensor, from_bytes, from_values
from relevance_bayes.tasks.cancellation import check_cancelled

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
        refuse_unsupported(given)
        size = integer_of(given, BINARY_SIZE) if given else None
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
