"""A request that is read by a plan is read as without one, and has the same errors."""

import orjson
import pytest

from app.errors import MalformedBodyError
from app.inference import requests, tensors
from app.inference.requests import InferenceRequest, read_by_plan, read_request
from app.prediction.runner import no_yield
from relevance_bayes.records.errors import RelevanceError

TENSOR = {"name": "input", "shape": [2, 2], "datatype": "FP64", "data": [1.0, 2.5, -3.0, 4e-300]}
HEAD = {"name": "input", "shape": [1, 2], "datatype": "FP32", "parameters": {"binary_data_size": 8}}
VALUES = b"\x00\x00\x80\x3f\x00\x00\x00\xc0"


def text(tensor: object, **others: object) -> bytes:
    return orjson.dumps({"inputs": [tensor], **others})


JSON_BODIES = [
    text(TENSOR),
    text(TENSOR, id="mine", outputs=[{"name": "mean"}]),
    text(TENSOR, parameters={"interval": 0.5, "binary_data_output": True}),
    text({**TENSOR, "datatype": "FP32"}),
    text({**TENSOR, "shape": [0, 2], "data": []}),
    text({**TENSOR, "shape": [3, 2]}),
    text({**TENSOR, "shape": [2.0, 2]}),
    text({**TENSOR, "data": [[1.0, 2.0], [3.0, 4.0]]}),
    text({**TENSOR, "data": [1.0, None, 2.0, 3.0]}),
    text({**TENSOR, "datatype": "INT8"}),
    text({**TENSOR, "datatype": "FP32", "data": [1.0, 2.0, 3.0, 1e300]}),
    text({**TENSOR, "parameters": {"data": [1.0]}}),
    text({**TENSOR, "parameters": {"shared_memory_region": "x"}}),
    text(TENSOR)[:-3] + b',"data":[]}]}',
    text(TENSOR).replace(b'"data":', b' "data" : '),
    text(TENSOR).replace(b"4e-300", b"4e-300,"),
    text(TENSOR).replace(b"2.5,", b"2.5,      ,"),
    text(TENSOR).replace(b"]}]}", b"]}]"),
    orjson.dumps({"inputs": [TENSOR, TENSOR]}),
    orjson.dumps({"inputs": [TENSOR, {**TENSOR, "name": "other"}]}),
]
BINARY_BODIES = [
    (text(HEAD), VALUES),
    (text(HEAD, outputs=[{"name": "mean", "parameters": {"binary_data": True}}]), VALUES),
    (text(HEAD), VALUES[:-1]),
    (text(HEAD), VALUES + b"\x00"),
    (text({**HEAD, "shape": [2, 2]}), VALUES),
    (text({**HEAD, "parameters": {"binary_data_size": -8}}), VALUES),
    (orjson.dumps({"inputs": [HEAD, {**HEAD, "name": "other"}]}), VALUES + VALUES),
    (orjson.dumps({"inputs": [HEAD, TENSOR]}), VALUES),
]
BODIES = [(body, None) for body in JSON_BODIES] + [(head + values, len(head)) for head, values in BINARY_BODIES]


def read(body: bytes, length: int | None) -> tuple[object, ...]:
    try:
        found: InferenceRequest = read_request(body, length, max_containers=1_000)
    except RelevanceError as error:
        return type(error), error.detail
    return found.options, [(*tensor[:3], list(tensor.values)) for tensor in found.inputs]


@pytest.mark.parametrize(("body", "length"), BODIES)
def test_a_plan_changes_nothing(body: bytes, length: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    first, again = read(body, length), read(body, length)
    monkeypatch.setattr(requests, "read_by_plan", lambda *_: None)
    assert first == again == read(body, length)


def test_the_commonest_requests_have_plans() -> None:
    assert read_by_plan(JSON_BODIES[0], None, 1_000, no_yield) is not None
    head, values = BINARY_BODIES[0]
    assert read_by_plan(head + values, len(head), 1_000, no_yield) is not None


@pytest.mark.parametrize("body", JSON_BODIES)
def test_a_long_request_is_read_in_place_to_the_same(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    full = read(body, None)
    monkeypatch.setattr(requests, "PIECE_BYTES", 0)
    monkeypatch.setattr(tensors, "PIECE_BYTES", 4)
    in_pieces = read(body, None)
    assert in_pieces == full or in_pieces[0] == full[0] == MalformedBodyError


def test_a_long_request_that_claims_more_values_than_it_can_hold_gets_no_memory_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(requests, "PIECE_BYTES", 0)
    shape = [10**15, 2]
    expected = f"Tensor 'input': expected {2 * 10**15} values of shape {shape}, got 4."
    assert read(text({**TENSOR, "shape": shape}), None) == (MalformedBodyError, expected)
