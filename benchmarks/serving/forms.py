"""The forms of requests and responses, all with the same numbers."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO

import numpy as np
import orjson
import pyarrow as pa

from benchmarks.serving.model import INPUTS, OUTPUTS, table
from relevance_bayes.core.types import Array

NAME = "benchmark"
FIGURES = ("mean", "variance_total", "variance_noise", "variance_weights", "variance_residual", "lower", "upper")
"""Outputs of the Open Inference Protocol for the same figures as `OUTPUTS` of predict calls."""

LENGTH = "Inference-Header-Content-Length"


@dataclass(frozen=True)
class Form:
    """Where rows X (N, d) are sent, as what, under which headers; and the numbers of an answer for N rows."""

    name: str
    path: str
    encode: Callable[[Array], tuple[bytes, str]]
    numbers: Callable[[bytes, int], Array]


def _encode_rows(X: Array) -> tuple[bytes, str]:
    return orjson.dumps({"rows": table(X), "outputs": OUTPUTS}), "Content-Type: application/json\r\n"


def _numbers_of_rows(response: bytes, _: int) -> Array:
    return np.array([float(found) for found in re.findall(rb":(-?[0-9][0-9.e+-]*)", response)])


def _encode_tensors(X: Array, names: Sequence[str]) -> tuple[bytes, str]:
    tensor = {"name": "input", "datatype": "FP64", "shape": X.shape, "data": X.ravel().tolist()}
    request = {"inputs": [tensor], "outputs": [{"name": name} for name in names]}
    return orjson.dumps(request), "Content-Type: application/json\r\n"


def _numbers_of_tensors(response: bytes, _: int) -> Array:
    return np.concatenate([output["data"] for output in orjson.loads(response)["outputs"]])


def _encode_bytes(X: Array, names: Sequence[str]) -> tuple[bytes, str]:
    tensor = {"name": "input", "datatype": "FP64", "shape": X.shape, "parameters": {"binary_data_size": X.nbytes}}
    outputs = [{"name": name, "parameters": {"binary_data": True}} for name in names]
    head = orjson.dumps({"inputs": [tensor], "outputs": outputs})
    return head + X.tobytes(), f"Content-Type: application/octet-stream\r\n{LENGTH}: {len(head)}\r\n"


def _tensors(names: Sequence[str]) -> Form:
    encode = partial(_encode_tensors, names=names)
    return Form("rows, tensors in JSON", f"/v2/models/{NAME}/infer", encode, _numbers_of_tensors)


def _bytes(names: Sequence[str]) -> Form:
    def numbers(response: bytes, rows: int) -> Array:
        return np.frombuffer(response[-8 * rows * len(names) :], np.float64)

    return Form("rows, tensors as bytes", f"/v2/models/{NAME}/infer", partial(_encode_bytes, names=names), numbers)


def _encode_npy(X: Array) -> tuple[bytes, str]:
    with BytesIO() as file:
        np.save(file, X)
        return file.getvalue(), _both_ways("application/x-npy")


def _numbers_of_npy(response: bytes, _: int) -> Array:
    found: Array = np.load(BytesIO(response), allow_pickle=False)
    return found.T.ravel()


def _encode_arrow(X: Array) -> tuple[bytes, str]:
    rows, sink = pa.table(dict(zip(INPUTS, X.T, strict=True))), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return sink.getvalue().to_pybytes(), _both_ways("application/vnd.apache.arrow.stream")


def _numbers_of_arrow(response: bytes, _: int) -> Array:
    return np.concatenate([column.to_numpy() for column in pa.ipc.open_stream(response).read_all().columns])


def _both_ways(media_type: str) -> str:
    return f"Content-Type: {media_type}\r\nAccept: {media_type}\r\n"


def _encode_nested(X: Array) -> tuple[bytes, str]:
    return orjson.dumps(X.tolist()), "Content-Type: application/json\r\n"


def _numbers_of_nested(response: bytes, _: int) -> Array:
    return np.concatenate(orjson.loads(response))


ROWS = Form("rows in JSON", f"/v1/models/{NAME}/predict", _encode_rows, _numbers_of_rows)
TENSORS = _tensors(FIGURES)
BYTES = _bytes(FIGURES)
FORMS = (ROWS, TENSORS, BYTES)

IN_QUERY = f"/v1/models/{NAME}/predict?outputs={','.join(OUTPUTS)}"
NPY = Form("rows in npy", IN_QUERY, _encode_npy, _numbers_of_npy)
ARROW = Form("rows in Arrow", IN_QUERY, _encode_arrow, _numbers_of_arrow)
"""Ours alone speaks these."""

MOMENTS = _tensors(FIGURES[:2])
MOMENTS_AS_BYTES = _bytes(FIGURES[:2])
NESTED = Form("rows, lists in JSON", "/predict", _encode_nested, _numbers_of_nested)
"""Rows as lists in a list, and means in a list beside variances in another."""
