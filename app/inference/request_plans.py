"""Requests whose JSON, except for the values, was parsed before."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from app.errors import MalformedBodyError
from app.formats.json_body import check_containers, check_members
from app.http.bodies import MAX_MEMBERS
from app.inference.records import InferenceOptions, InferenceRequest
from app.inference.request_json import BINARY_SIZE, FLAT_FLOATS, integer_of, options_of, refuse_unsupported, shape_of
from app.inference.tensor_json import PIECE_BYTES, from_part
from app.inference.tensors import FLOATS, Tensor, from_bytes, from_values
from relevance_bayes.records.errors import RelevanceError

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
            refuse_unsupported(given)
            size = integer_of(given, BINARY_SIZE) if given else None
            is_bare = one.data == [] and one.datatype in FLOATS
            if (size is None) == (one.data is msgspec.UNSET) or (size is None and not is_bare) or (size or 0) < 0:
                return None
            inputs.append((one.name, one.datatype, tuple(shape_of(one)), size))
        if len({name for name, *_ in inputs}) < len(inputs):
            return None
        return _Plan(tuple(inputs), options_of(requested))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, RelevanceError):
        return None
