"""Tensors of the protocol, in JSON and in bytes: what comes in is what was sent, and what fits nowhere is refused."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import MalformedBodyError
from app.inference import tensors
from app.inference.tensors import CODES, TEXT, Tensor, from_bytes, from_json, to_bytes, to_json

Json = list[float] | list[str] | list[bool | None]

NUMBERS = sorted(set(CODES) - {"FP16", "BOOL"})


def listed(tensor: Tensor) -> Json:
    """The values as who reads the JSON sees them."""
    values: Json = json.loads(b"".join(to_json(tensor)))
    return values


def edges(datatype: str) -> list[float]:
    """The least and the greatest of a type, and what is between."""
    dtype = np.dtype(CODES[datatype])
    if dtype.kind == "f":
        return [0.0, -0.5, float(np.finfo(dtype).max), float(np.finfo(dtype).min)]
    return [0, 1, int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)]


@pytest.mark.parametrize("datatype", NUMBERS)
def test_numbers_are_the_same_flat_nested_and_as_bytes(datatype: str) -> None:
    values = edges(datatype)
    flat = from_json("t", datatype, [2, 2], json.dumps(values).encode())
    nested = from_json("t", datatype, [2, 2], json.dumps([values[:2], values[2:]]).encode())
    raw = from_bytes("t", datatype, [2, 2], memoryview(np.array(values, CODES[datatype]).tobytes()))
    assert listed(flat) == listed(nested) == listed(raw) == values
    assert to_bytes(raw) == np.array(values, CODES[datatype]).tobytes()


@pytest.mark.parametrize(
    ("code", "datatype", "value"),
    [("<b", "INT8", -2), ("<H", "UINT16", 513), ("<i", "INT32", -70000), ("<Q", "UINT64", 2**63), ("<d", "FP64", 0.1)],
)
def test_bytes_are_little_endian(code: str, datatype: str, value: float) -> None:
    assert listed(from_bytes("t", datatype, [1], memoryview(struct.pack(code, value)))) == [value]


def test_halves_come_as_bytes_alone() -> None:
    half = from_bytes("t", "FP16", [2], memoryview(struct.pack("<ee", 0.5, -2.0)))
    assert listed(half) == [0.5, -2.0]
    with pytest.raises(MalformedBodyError, match="binary"):
        from_json("t", "FP16", [1], b"[0.5]")


def test_truths_are_a_byte_each() -> None:
    assert listed(from_bytes("t", "BOOL", [2], memoryview(b"\x01\x00"))) == [True, False]
    assert listed(from_json("t", "BOOL", [2], b"[true, false]")) == [True, False]
    assert to_bytes(from_json("t", "BOOL", [2], b"[true, false]")) == b"\x01\x00"
    with pytest.raises(MalformedBodyError, match="bytes 0 and 1"):
        from_bytes("t", "BOOL", [2], memoryview(b"\x01\x02"))


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_texts_have_their_lengths_before_them(texts: list[str]) -> None:
    content = b"".join(struct.pack("<I", len(text.encode())) + text.encode() for text in map(_sound, texts))
    tensor = from_bytes("t", TEXT, [len(texts)], memoryview(content))
    assert listed(tensor) == [*map(_sound, texts)]
    assert to_bytes(tensor) == content
    assert from_json("t", TEXT, [len(texts)], json.dumps([*map(_sound, texts)]).encode()).values == tensor.values


def _sound(text: str) -> str:
    """Without halves of surrogates, which no UTF-8 has."""
    return text.encode("utf-8", "ignore").decode()


@pytest.mark.parametrize(
    ("datatype", "shape", "data"),
    [
        ("FP64", [3], b"[1, 2]"),
        ("FP64", [2, 2], b"[[1, 2], [3]]"),
        ("FP64", [2, 2], b"[[1, 2], 3, 4]"),
        ("FP64", [2], b'[1, "2"]'),
        ("FP64", [2], b"[1, null]"),
        ("FP64", [1], b"[NaN]"),
        ("FP64", [1], b"[true]"),
        ("FP64", [1], b"1"),
        ("FP64", [1], b"["),
        ("FP64", [2], b"[1, 1e999]"),
        ("FP32", [1], b"[1e39]"),
        ("INT8", [1], b"[128]"),
        ("UINT8", [1], b"[-1]"),
        ("UINT64", [1], b"[18446744073709551616]"),
        ("INT64", [1], b"[1.5]"),
        ("BOOL", [1], b"[1]"),
        ("BYTES", [1], b"[1]"),
        ("BYTES", [1], b'["\xff"]'),
        ("FP128", [1], b"[1]"),
        ("FP64", [], b"[]"),
        ("FP64", [-1], b"[1]"),
        ("FP64", [1] * 9, b"[1]"),
        ("FP64", [1, 1], b"[" * 5000),
    ],
)
def test_what_is_no_such_tensor_in_json_is_refused(datatype: str, shape: list[int], data: bytes) -> None:
    with pytest.raises(MalformedBodyError):
        from_json("t", datatype, shape, data)


@pytest.mark.parametrize(
    ("datatype", "shape", "content"),
    [
        ("FP64", [2], b"\x00" * 15),
        ("FP64", [2], b"\x00" * 17),
        ("BYTES", [1], b"\x01\x00\x00"),
        ("BYTES", [1], b"\x02\x00\x00\x00a"),
        ("BYTES", [1], b"\x01\x00\x00\x00a!"),
        ("BYTES", [2], b"\x01\x00\x00\x00a"),
        ("BYTES", [1], b"\x01\x00\x00\x00\xff"),
        ("BYTES", [2**40], b""),
    ],
)
def test_bytes_that_are_no_such_tensor_are_refused(datatype: str, shape: list[int], content: bytes) -> None:
    with pytest.raises(MalformedBodyError):
        from_bytes("t", datatype, shape, memoryview(content))


def test_what_goes_out_as_bytes_is_in_the_type_that_was_stated() -> None:
    tensor = Tensor("t", "FP64", (2,), np.array([1.0, np.nan]))
    assert to_bytes(tensor) == struct.pack("<dd", 1.0, np.nan)


def outcome(datatype: str, shape: list[int], data: bytes) -> tuple[object, ...]:
    """The values and their type, or what they are refused for."""
    try:
        tensor = from_json("t", datatype, shape, data)
    except MalformedBodyError as error:
        return (error.detail,)
    return to_bytes(tensor), tensor.shape, getattr(tensor.values, "dtype", None)


@pytest.mark.parametrize(
    "data",
    [
        b"[1, 2, 3, 4]",
        b" [ 1 ,2,\n3.0,4e0 ]\n",
        b"[[1, 2], [3, 4]]",
        b" [ [1,2.5]\n, [ 3,4e0 ] ] ",
        b"[[1, 2], [3, 4],]",
        b"[[1, 2], [3, 4],          ]",
        b"[[1, 2],           , [3, 4]]",
        b"[[1, 2], , [3, 4]]",
        b"[[1, 2] [3, 4]]",
        b"[[1, 2], [3]]",
        b"[[1, 2], [3, 4], [5, 6]]",
        b"[[1, 2]]",
        b"[[1, 2, 3, 4]]",
        b"[[1, 2], 3, 4]",
        b"[[1, 2], [3, [4]]]",
        b"[[1, 2], [3, 1e400]]",
        b"[[1, 2], [3, null]]",
        b"[[1, 2], [3, 4]",
        b"[[1, 2], [3, 4]]]",
        b"[1, 2, 3, 4,]",
        b"[1, 2, , 3, 4]",
        b"[,1, 2, 3, 4]",
        b"[1, 2, 3, [4]]",
        b"[1, 2, 3, 4]]",
        b"[1, 2, 3, 4",
        b"[1, 2, 3, 4] 5",
        b'[1, 2, 3, "4"]',
        b"[1, 2, 3, 1e400]",
        b"[1, 2, 3, 256]",
        b"[1, 2, 3, NaN]",
        b"[1, 2, 3]",
        b"[]",
        b"{}",
    ],
)
@pytest.mark.parametrize("datatype", ["FP64", "FP32", "UINT8", "INT64"])
def test_a_list_that_is_read_in_pieces_has_the_same_values_or_is_refused_too(
    datatype: str, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = outcome(datatype, [2, 2], data)
    monkeypatch.setattr(tensors, "PIECE_BYTES", 0)
    in_pieces = outcome(datatype, [2, 2], data)
    assert in_pieces == full or len(in_pieces) == len(full) == 1


def test_a_list_of_another_length_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "PIECE_BYTES", 0)
    assert outcome("FP64", [2**40], b"[1, x]") == (
        "Tensor 't': expected 1099511627776 values of shape [1099511627776], got 2.",
    )


def test_a_shape_of_millions_of_axes_is_not_repeated() -> None:
    (detail,) = outcome("FP64", [1] * 1_000_000, b"[1]")
    assert detail == "Tensor 't': expected 1 to 8 lengths of axes, got 1000000."


def test_the_gil_is_yielded_after_each_piece_of_a_long_list(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).normal(size=20_000)
    data, decoded, yields = json.dumps(values.tolist()).encode(), list[int](), list[None]()

    class Decoder:
        def decode(self, piece: bytes) -> list[float]:
            decoded.append(len(piece))
            return [*map(float, json.loads(piece))]

    monkeypatch.setattr(tensors, "_DECODERS", {"f": Decoder()})
    found = from_json("t", "FP64", [20_000], data, yield_gil=lambda: yields.append(None))
    np.testing.assert_array_equal(np.asarray(found.values), values)
    assert len(yields) == len(decoded) >= len(data) // (tensors.PIECE_BYTES + 30)
    assert max(decoded) <= tensors.PIECE_BYTES + 30  # to the end of a number


def test_the_gil_is_yielded_after_each_piece_of_long_rows() -> None:
    values, yields = np.random.default_rng(3).normal(size=(5_000, 4)), list[None]()
    data = json.dumps(values.tolist()).encode()
    found = from_json("t", "FP64", values.shape, data, yield_gil=lambda: yields.append(None))
    np.testing.assert_array_equal(np.asarray(found.values), values.ravel())
    assert len(yields) >= len(data) // (tensors.PIECE_BYTES + 100) > 1


def test_a_long_tensor_is_written_in_pieces_yielding_the_gil_after_each() -> None:
    values, yields = np.random.default_rng(3).normal(size=2 * tensors.PIECE_VALUES + 1), list[None]()
    values[5] = np.nan
    pieces = to_json(Tensor("t", "FP64", (len(values),), values), yield_gil=lambda: yields.append(None))
    each = (b"".join(to_json(Tensor("t", "FP64", (1,), one)))[1:-1] for one in values[:, None])
    assert b"".join(pieces) == b"[%b]" % b",".join(each)
    assert len(yields) == 3
    assert max(map(len, pieces)) < 30 * tensors.PIECE_VALUES
