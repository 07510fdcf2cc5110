"""Fields of messages are counted as a parser finds them, whatever the bytes."""

import time

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from app.errors import TooLargeError
from app.inference.rpc.generated.open_inference_pb2 import ModelInferRequest
from app.inference.rpc.messages import MAX_FIELDS, OF_INFERENCE, check_fields

EMPTY_INPUT, EMPTY_OUTPUT = b"\x2a\x00", b"\x32\x00"


def request(texts: int, values: int) -> bytes:
    """A request of two tensors: `texts` typed texts, and packed `values`."""
    made = ModelInferRequest(model_name="m", id="1")
    made.parameters["interval"].double_param = 0.5
    words = made.inputs.add(name="words", datatype="BYTES", shape=[texts])
    words.contents.bytes_contents.extend([b"a"] * texts)
    numbers = made.inputs.add(name="numbers", datatype="FP64", shape=[values])
    numbers.contents.fp64_contents.extend([0.5] * values)
    return made.SerializeToString()


@pytest.mark.parametrize(("texts", "values"), [(1, 1), (300, 1), (1, 300), (300, 300)])
def test_each_field_counts_once_and_packed_numbers_together(texts: int, values: int) -> None:
    # name, id, the parameter, two inputs; of these name, type, shape and contents; texts, and one list of numbers.
    fields = 5 + 2 * 4 + texts + 1
    check_fields(request(texts, values), OF_INFERENCE, fields)
    with pytest.raises(TooLargeError, match=f"at most {fields - 1:,} fields"):
        check_fields(request(texts, values), OF_INFERENCE, fields - 1)


@pytest.mark.parametrize("piece", [EMPTY_INPUT, EMPTY_OUTPUT, b"\x2a\x04\x2a\x02\x42\x00", b"\x08\x01", b"\x3a\x00"])
def test_millions_of_fields_are_refused_before_they_are_parsed(piece: bytes) -> None:
    content = piece * (30_000_000 // len(piece))
    began = time.process_time()
    with pytest.raises(TooLargeError):
        check_fields(content, OF_INFERENCE)
    assert time.process_time() - began < 2.0


@given(
    st.binary(max_size=60) | st.lists(st.sampled_from([EMPTY_INPUT, b"\x2a\x03\x2a\x01\x42", b"\xff"])).map(b"".join)
)
def test_what_cannot_be_parsed_is_left_to_the_parser(content: bytes) -> None:
    check_fields(content, OF_INFERENCE, MAX_FIELDS)
    try:
        inputs = len(ModelInferRequest.FromString(content).inputs)
    except DecodeError:
        return
    if inputs > 1:
        with pytest.raises(TooLargeError):
            check_fields(content, OF_INFERENCE, inputs - 1)
