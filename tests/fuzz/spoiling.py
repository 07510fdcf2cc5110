"""Ways to spoil a sound request."""

import gzip
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa
from backports import zstd

from tests.fuzz.seeds import BINARY, JSON, LENGTH, Sent, npy
from tests.table_files import MEDIA_TYPES, arrow_stream

PACK: Mapping[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress, "zstd": zstd.compress}

BITS = (
    b"\x00", b"\xff", b"\n", b'"', b",", b"{", b"}", b"[", b"NaN", b"-Infinity", b"1e999", b"null",
    b"-", b"\xed\xa0\x80", b"\\u0000", b"\\ud800", b"\x80" * 8, b"ARROW1", b"PAR1",
    b"\x93NUMPY", b'"shape":[-1]', b'"binary_data_size":-1',
)  # fmt: skip
"""Bytes that parsers often mishandle."""

NUMBERS = (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1)
"""Lengths and offsets: none, huge, negative where they have a sign."""

BOMB = 2**27
"""Bytes that a few of a packing become."""

Spoil = Callable[[Random, Sent], Sent]


def spoiled(random: Random, sent: Sent, others: Sequence[Sent]) -> Sent:
    """The same request with a few things wrong, some of which may be right after all."""
    if random.random() < 0.05:
        return replace(random.choice(WHOLE_BODY)(random, sent), method=sent.method)
    for _ in range(random.randint(1, 3)):
        spoil = random.choice(SPOILS)
        sent = spoil(random, sent)
    if random.random() < 0.1:  # what states that it is another
        sent = replace(sent, body=random.choice(others).body)
    return sent


def _cut(random: Random, sent: Sent) -> Sent:
    return replace(sent, body=sent.body[: random.randint(0, len(sent.body))])


def _flip(random: Random, sent: Sent) -> Sent:
    body = bytearray(sent.body or b"\0")
    for _ in range(random.randint(1, 6)):
        body[random.randrange(len(body))] = random.randrange(256)
    return replace(sent, body=bytes(body))


def _put(random: Random, sent: Sent) -> Sent:
    place = random.randint(0, len(sent.body))
    return replace(sent, body=sent.body[:place] + random.choice(BITS) + sent.body[place:])


def _drop(random: Random, sent: Sent) -> Sent:
    place = random.randint(0, len(sent.body))
    return replace(sent, body=sent.body[:place] + sent.body[place + random.randint(1, 40) :])


def _repeat(random: Random, sent: Sent) -> Sent:
    first, place = random.randint(0, len(sent.body)), random.randint(0, len(sent.body))
    piece = sent.body[first : first + random.randint(1, 200)] * random.randint(1, 20)
    return replace(sent, body=sent.body[:place] + piece + sent.body[place:])


def _number(random: Random, sent: Sent) -> Sent:
    place, given = random.randint(0, len(sent.body)), random.choice(NUMBERS)
    if random.random() < 0.5:
        width = random.choice((4, 8))
        piece = (given % 2 ** (8 * width)).to_bytes(width, "little")
        return replace(sent, body=sent.body[:place] + piece + sent.body[place + width :])
    return replace(sent, body=sent.body[:place] + str(given).encode() + sent.body[place:])


def _length(random: Random, sent: Sent) -> Sent:
    """The header's offset of the tensors: one off, negative, past the end, no number."""
    given = sent.headers.get(LENGTH, "")
    begins = int(given) if given.isascii() and given.isdigit() else len(sent.body)
    lies = (str(begins + random.randint(-9, 9)), "-1", str(2**63), "1e3", "", "0", str(len(sent.body) + 1), "٣")
    return _with(sent, LENGTH, random.choice(lies).encode("utf-8").decode("latin-1"))


def _type(random: Random, sent: Sent) -> Sent:
    types = (*MEDIA_TYPES.values(), JSON, BINARY, "", "text/plain", "application/json; charset=utf-16", "x" * 300)
    return _with(sent, "Content-Type", random.choice(types))


def _accept(random: Random, sent: Sent) -> Sent:
    required = (*MEDIA_TYPES.values(), "*/*;q=0", "text/html", ";;;", "application/json;q=nan", "a/b," * 200)
    return _with(sent, "Accept", random.choice(required))


def _packed(random: Random, sent: Sent) -> Sent:
    name = random.choice([*PACK])
    body = PACK[name](sent.body)
    if random.random() < 0.5:
        body = _flip(random, replace(sent, body=body)).body
    return _with(
        replace(sent, body=body), "Content-Encoding", random.choice((name, name, "gzip, gzip", "br", name.upper()))
    )


def _lie_of_packing(random: Random, sent: Sent) -> Sent:
    return _with(sent, "Content-Encoding", random.choice([*PACK, "identity", "x"]))


def _query(random: Random, sent: Sent) -> Sent:
    requested = (
        "interval=2",
        "interval=nan",
        "on_error=per_row",
        "outputs=mean",
        "outputs=%00",
        "interval=1e-300",
        "x=1",
    )
    return replace(sent, path=f"{sent.path}{'&' if '?' in sent.path else '?'}{random.choice(requested)}")


def _with(sent: Sent, name: str, value: str) -> Sent:
    return replace(sent, headers={**sent.headers, name: value})


def _bomb(random: Random, sent: Sent) -> Sent:
    """A few bytes that would become a great many."""
    name = random.choice([*PACK])
    plain = random.choice((b"0", b" ", b"[", b'{"rows":[' + b"[1],")) * (BOMB // 8)
    return _with(replace(sent, body=PACK[name](plain)), "Content-Encoding", name)


def _deep(random: Random, sent: Sent) -> Sent:
    depth = random.choice((100, 10_000, 200_000))
    opened = random.choice((b"[", b'{"a":', b'{"rows":['))
    return _with(replace(sent, body=opened * depth), "Content-Type", JSON)


def _foreign_npy(random: Random, sent: Sent) -> Sent:
    arrays = (
        np.array([{"a": 1}, None], object), np.array(["a", "b"]), np.zeros((2, 5), complex), np.zeros((2, 5), "M8[s]"),
        np.zeros(3, [("a", "f8")]), np.float64(1.0), np.zeros((0, 5)), np.zeros((2, 5, 2)), np.full((2, 5), np.nan),
        np.zeros((2, 5), ">f8"), np.zeros((2, 5), np.float16), np.zeros((2, 0)),
    )  # fmt: skip
    body = npy(random.choice(arrays), fortran=random.random() < 0.3)
    if random.random() < 0.3:  # a shape that the content is not of
        body = body.replace(b"(2, 5)", random.choice((b"(9**9,)", b"(-1, 5)", b"(2**40, 5)"[:6], b"(99, 5)")))
    return Sent(sent.method, "/v1/models/numbers/predict", {"Content-Type": MEDIA_TYPES["npy"]}, body)


def _foreign_arrow(random: Random, sent: Sent) -> Sent:
    columns = (
        pa.array([[1.0], None]), pa.array([{"a": 1}, None]), pa.array([b"\xff", None]), pa.array([None, None]),
        pa.array([1, 2], pa.timestamp("ns", "Mars/Olympus")), pa.array(["a", "a"]).dictionary_encode(),
        pa.array([1, 2], pa.decimal128(38, 10)), pa.array([float("nan"), float("inf")]),
        pa.array([2**63, 1], pa.uint64()),
        pa.array([True, None]), pa.array([1, 2], pa.duration("s")), pa.array(["x" * 10_000, "\0"]),
    )  # fmt: skip
    names = random.choice((["x", "colour"], ["x", "x"], ["", "colour"], ["x\0", "colour"], ["x" * 5_000, "colour"]))
    table = pa.table([random.choice(columns), random.choice(columns)], names=names)
    path = random.choice(("/v1/models/mixed/predict", "/v1/datasets?name=fuzzed"))
    return Sent(sent.method, path, {"Content-Type": MEDIA_TYPES["arrow"]}, arrow_stream(table))


def _foreign_tensor(random: Random, sent: Sent) -> Sent:
    """Of a shape, a type or data that don't belong together."""
    tensor = {
        "name": random.choice(("input", "x", "", "\0", "a" * 5_000)),
        "shape": random.choice(([2, 5], [-1, 5], [2**40, 2**40], [], [0, 5], [2.5], ["2"], [10], None)),
        "datatype": random.choice(("FP64", "FP16", "BF16", "BOOL", "INT8", "BYTES", "UINT64", "", None)),
        "data": random.choice(([0.5] * 10, [[0.5] * 5] * 2, [None] * 10, ["a"] * 10, [2**70] * 10, [], "x", [[1], 2])),
        "parameters": random.choice(
            ({}, {"binary_data_size": 80}, {"binary_data_size": -1}, {"binary_data_size": "9"})
        ),
    }
    body = json.dumps({"inputs": [tensor] * random.choice((0, 1, 1, 1, 2))}).encode()
    return Sent(sent.method, "/v2/models/numbers/infer", {"Content-Type": JSON}, body)


SPOILS: Sequence[Spoil] = (
    _cut, _cut, _flip, _flip, _flip, _put, _put, _drop, _repeat, _number, _number,
    _length, _type, _accept, _packed, _lie_of_packing, _query,
)  # fmt: skip
WHOLE_BODY: Sequence[Spoil] = (
    _bomb,
    _deep,
    _foreign_npy,
    _foreign_npy,
    _foreign_arrow,
    _foreign_arrow,
    _foreign_tensor,
    _foreign_tensor,
)
