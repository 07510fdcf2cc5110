"""Sound requests in every format and on every path, for the fuzzer to spoil."""

import io
import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tests.table_files import MEDIA_TYPES, NAMED_ROWS, RESPONSE_FORMATS, ROWS, TABLES, FlatRow, written

LENGTH = "Inference-Header-Content-Length"
JSON = "application/json"
BINARY = "application/octet-stream"

CELLS = [[0.5, -1.0, 2.0, 0.0, 1.0], [3.0, 0.25, -2.0, 1.0, 0.0]]
NUMBERS: list[FlatRow] = [dict(zip("abcde", cells, strict=True)) for cells in CELLS]
MIXED: list[FlatRow] = [{"x": 0.5, "colour": "red"}, {"x": 3.0, "colour": "blue"}]


@dataclass(frozen=True)
class Sent:
    """A request, without its key."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


def seeds(exported: Mapping[str, bytes]) -> Iterator[Sent]:
    """Rows in each format to predict with and to keep, tensors in each form, and files of versions (`exported`, by
    their media type) to import."""
    for coded in ROWS:
        media_type = MEDIA_TYPES[coded]
        accepted = media_type if coded in RESPONSE_FORMATS else JSON
        for path in ("/v1/models/numbers/predict", "/v1/models/numbers/versions/1/predict"):
            yield Sent("POST", path, {"Content-Type": media_type, "Accept": accepted}, written(coded, NUMBERS))
        if coded in NAMED_ROWS:
            yield Sent("POST", "/v1/models/mixed/predict", {"Content-Type": media_type}, written(coded, MIXED))
    for coded in TABLES:
        path = "/v1/datasets?name=fuzzed"
        yield Sent("POST", path, {"Content-Type": MEDIA_TYPES[coded]}, written(coded, MIXED))
    compared = json.dumps({"with": "numbers@champion", "rows": NUMBERS}).encode()
    yield Sent("POST", "/v1/models/numbers/versions/2/compare", {"Content-Type": JSON}, compared)
    for media_type, content in exported.items():
        yield Sent("POST", "/v1/models/imported/versions", {"Content-Type": media_type}, content)
    yield from _tensors()


def _tensors() -> Iterator[Sent]:
    matrix = np.array(CELLS)
    flat = {"name": "input", "shape": [2, 5], "datatype": "FP64", "data": matrix.ravel().tolist()}
    path = "/v2/models/numbers/infer"
    yield Sent("POST", path, {"Content-Type": JSON}, json.dumps({"id": "1", "inputs": [flat]}).encode())
    for datatype, width in (("FP64", "<f8"), ("FP32", "<f4"), ("FP16", "<f2"), ("INT64", "<i8"), ("UINT8", "<u1")):
        content = np.abs(matrix).astype(width).tobytes()
        yield _binary(path, [{"name": "input", "shape": [2, 5], "datatype": datatype}], [content])
    texts = b"".join(struct.pack("<I", len(text)) + text for text in (b"red", b"blue"))
    inputs: list[dict[str, object]] = [
        {"name": "x", "shape": [2], "datatype": "FP64"},
        {"name": "colour", "shape": [2], "datatype": "BYTES"},
    ]
    yield _binary("/v2/models/mixed/infer", inputs, [matrix[0, :2].tobytes(), texts])
    yield Sent("POST", path, {"Content-Type": BINARY, LENGTH: "0"}, matrix[0].tobytes())


def _binary(path: str, inputs: list[dict[str, object]], contents: list[bytes]) -> Sent:
    reported = [
        {**one, "parameters": {"binary_data_size": len(content)}} for one, content in zip(inputs, contents, strict=True)
    ]
    head = json.dumps({"inputs": reported, "parameters": {"binary_data_output": True}}).encode()
    return Sent("POST", path, {"Content-Type": BINARY, LENGTH: str(len(head))}, b"".join([head, *contents]))


def npy(array: ArrayLike, *, fortran: bool = False) -> bytes:
    """A file of an array; of objects too."""
    body = io.BytesIO()
    np.save(body, np.asarray(array, order="F") if fortran else np.asarray(array), allow_pickle=True)
    return body.getvalue()
