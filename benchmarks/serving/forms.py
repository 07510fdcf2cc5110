"""The forms in which rows are asked with and answers come, all with the same numbers."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import orjson

from app.sparse_bayes.types import Array
from benchmarks.serving.model import OUTPUTS, table

NAME = "benchmark"
FIGURES = ("mean", "variance_total", "variance_noise", "variance_weights", "variance_beyond", "lower", "upper")
"""Outputs of the Open Inference Protocol that say what `OUTPUTS` of predict calls do."""

LENGTH = "Inference-Header-Content-Length"


@dataclass(frozen=True)
class Form:
    """Where rows X (N, d) are sent, as what, under which headers; and the numbers of an answer for N rows."""

    name: str
    path: str
    ask: Callable[[Array], tuple[bytes, str]]
    numbers: Callable[[bytes, int], Array]


def _ask_rows(X: Array) -> tuple[bytes, str]:
    return orjson.dumps({"rows": table(X), "outputs": OUTPUTS}), "Content-Type: application/json\r\n"


def _numbers_of_rows(answer: bytes, _: int) -> Array:
    return np.array([float(found) for found in re.findall(rb":(-?[0-9][0-9.e+-]*)", answer)])


def _ask_tensor(X: Array) -> tuple[bytes, str]:
    tensor = {"name": "input", "datatype": "FP64", "shape": X.shape, "data": X.ravel().tolist()}
    asked = {"inputs": [tensor], "outputs": [{"name": name} for name in FIGURES]}
    return orjson.dumps(asked), "Content-Type: application/json\r\n"


def _numbers_of_tensors(answer: bytes, _: int) -> Array:
    return np.array([output["data"] for output in orjson.loads(answer)["outputs"]])


def _ask_bytes(X: Array) -> tuple[bytes, str]:
    tensor = {"name": "input", "datatype": "FP64", "shape": X.shape, "parameters": {"binary_data_size": X.nbytes}}
    outputs = [{"name": name, "parameters": {"binary_data": True}} for name in FIGURES]
    head = orjson.dumps({"inputs": [tensor], "outputs": outputs})
    return head + X.tobytes(), f"Content-Type: application/octet-stream\r\n{LENGTH}: {len(head)}\r\n"


def _numbers_of_bytes(answer: bytes, rows: int) -> Array:
    return np.frombuffer(answer[-8 * rows * len(FIGURES) :], np.float64)


ROWS = Form("rows in JSON", f"/v1/models/{NAME}/predict", _ask_rows, _numbers_of_rows)
TENSORS = Form("rows, tensors in JSON", f"/v2/models/{NAME}/infer", _ask_tensor, _numbers_of_tensors)
BYTES = Form("rows, tensors as bytes", f"/v2/models/{NAME}/infer", _ask_bytes, _numbers_of_bytes)
FORMS = (ROWS, TENSORS, BYTES)
