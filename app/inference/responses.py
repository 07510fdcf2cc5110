"""Inference responses as one body: JSON, then the binary tensors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import orjson

from app.inference.request_json import BINARY_SIZE
from app.inference.signature import Output
from app.inference.tensor_json import to_json
from app.inference.tensors import to_bytes
from relevance_bayes.tasks.cancellation import check_cancelled

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


def render_response(
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
