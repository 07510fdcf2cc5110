"""`Content-Encoding` of request bodies: decoded on every path that takes a body, or refused with 415."""

import gzip
import json
import random
import re
import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from app.errors import MalformedBodyError
from app.http.content_encodings import BYTES_PER_MEMBER, FREE_MEMBERS, Decompressor, expanded
from tests.applications import DATASET, LIMITS, SUBMIT
from tests.http.test_openapi import operations
from tests.problems import assert_problem

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACK: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstd.compress,
}
NAMES = {"name": "small", "version": "1", "alias": "champion", "dataset_id": str(DATASET.id)}
JSON = {"Content-Type": "application/json"}


def paths_of_bodies(openapi: Response) -> Iterator[tuple[str, str, bool]]:
    """Method, path, and whether a body is read, of each documented operation that neither reads nor removes."""
    for operation, documented in operations(openapi.json()):
        method, path = operation.split()
        if method not in {"GET", "DELETE"}:
            filled = re.sub(r"{(\w+)}", lambda found: NAMES.get(found[1], found[1]), path)
            yield method, filled, "requestBody" in documented


def test_every_path_with_a_body_decodes_it_and_refuses_what_it_cannot_decode(
    client: TestClient, openapi: Response
) -> None:
    seen = 0
    for method, path, reads_body in paths_of_bodies(openapi):
        refused = client.request(method, path, content=b"{}", headers={**JSON, "Content-Encoding": "br"})
        if not reads_body:
            assert refused.status_code < 500, path
            continue
        assert (refused.status_code, refused.headers["Accept-Encoding"]) == (415, "gzip, deflate, zstd"), path
        assert refused.json()["detail"].endswith("one of gzip, deflate, zstd; got br.")
        plain = client.request(method, path, content=b'{"surely_unknown": 1}', headers=JSON)
        assert 400 <= plain.status_code < 500, path
        for encoding, pack in PACK.items():
            headers = {**JSON, "Content-Encoding": encoding}
            packed = client.request(method, path, content=pack(b'{"surely_unknown": 1}'), headers=headers)
            assert (packed.status_code, packed.json()["detail"]) == (plain.status_code, plain.json()["detail"]), path
        seen += 1
    assert seen > 10


@pytest.mark.parametrize("encoding", PACK)
def test_a_packed_body_is_understood(client: TestClient, encoding: str) -> None:
    content = PACK[encoding](json.dumps(SUBMIT).encode())
    response = client.post("/v1/training-jobs", content=content, headers={**JSON, "Content-Encoding": encoding})
    assert (response.status_code, response.json()["target"]) == (202, "y")


def test_a_packed_body_is_bounded_by_what_it_unpacks_to(client: TestClient) -> None:
    content = gzip.compress(b" " * (LIMITS.max_body_bytes + 1))
    response = client.post("/v1/training-jobs", content=content, headers={**JSON, "Content-Encoding": "gzip"})
    assert_problem(
        response, "too-large", f"Expected at most {LIMITS.max_body_bytes:,} bytes once decompressed, got more."
    )


def test_a_body_that_is_not_what_it_states_is_malformed(client: TestClient) -> None:
    response = client.post("/v1/training-jobs", json=SUBMIT, headers={"Content-Encoding": "gzip"})
    assert (response.status_code, response.json()["type"]) == (400, "/problems/malformed-body")


@pytest.mark.parametrize("method_path", ["DELETE /v1/training-jobs/", "POST /v1/training-jobs/{}/cancel"])
def test_a_request_without_a_body_may_name_any_encoding(client: TestClient, method_path: str) -> None:
    job = client.post("/v1/training-jobs", json=SUBMIT).json()["id"]
    method, path = method_path.split()
    path = path.format(job)
    plain = client.request(method, path)
    assert client.request(method, path, headers={"Content-Encoding": "br"}).status_code == plain.status_code


if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_BYTES = 2**26
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, 1),
    "deflate": lambda data: zlib.compress(data, 1),
    "zstd": zstd.compress,
}
SKIPPABLE = struct.pack("<II", 0x184D2A50, 4) + b"skip"


def cpu_seconds(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def refused_in(body: bytes, encoding: str) -> tuple[str, float]:
    """The error of a body that has too many members, and the CPU seconds until then."""
    began = time.process_time()
    with pytest.raises(MalformedBodyError) as error:
        expanded(body, encoding, MAX_BYTES)
    return error.value.detail, time.process_time() - began


@pytest.mark.parametrize(
    ("encoding", "member", "count"),
    [("zstd", zstd.compress(b""), 100_000), ("gzip", gzip.compress(b""), 500_000), ("zstd", SKIPPABLE, 100_000)],
    ids=["frames of zstd", "members of gzip", "skippable frames"],
)
def test_empty_members_and_frames_are_bounded(encoding: str, member: bytes, count: int) -> None:
    detail, seconds = refused_in(member * count, encoding)
    assert detail.startswith(
        f"The body has too many {encoding} members: at most 1,000, and one for each 8,192 decompressed bytes"
    )
    assert seconds < 0.5


def test_empty_frames_are_bounded_over_all_pieces_of_an_upload() -> None:
    decompressor = Decompressor("zstd", MAX_BYTES)
    piece = zstd.compress(b"") * 100
    assert [[*decompressor.feed(piece)] for _ in range(10)] == [[]] * 10
    with pytest.raises(MalformedBodyError):
        [*decompressor.feed(piece)]


@pytest.mark.parametrize("encoding", PACKED)
def test_so_many_members_as_are_allowed_are_read(encoding: str) -> None:
    body = PACKED[encoding](b"row\n") * FREE_MEMBERS
    assert expanded(body, encoding, MAX_BYTES) == b"row\n" * FREE_MEMBERS


@pytest.mark.parametrize("encoding", PACKED)
def test_blocks_that_hold_enough_may_be_many_more(encoding: str) -> None:
    block = b"x" * BYTES_PER_MEMBER
    body = PACKED[encoding](block) * (3 * FREE_MEMBERS)
    assert expanded(body, encoding, MAX_BYTES) == block * (3 * FREE_MEMBERS)


def test_a_skippable_frame_states_nothing() -> None:
    body = SKIPPABLE + zstd.compress(b"one") + SKIPPABLE + zstd.compress(b"two") + SKIPPABLE
    assert expanded(body, "zstd", MAX_BYTES) == b"onetwo"


@pytest.mark.parametrize("encoding", PACKED)
def test_pieces_may_end_anywhere(encoding: str) -> None:
    data = random.Random(1).randbytes(70_000)
    body = PACKED[encoding](data) + PACKED[encoding](data[:100])
    for size in (1, 2, 1_000, 16_384, 16_385, 65_536):
        decompressor = Decompressor(encoding, MAX_BYTES)
        got = b"".join(
            piece for start in range(0, len(body), size) for piece in decompressor.feed(body[start : start + size])
        )
        decompressor.finish()
        assert got == data + data[:100]


@pytest.mark.thorough
@pytest.mark.parametrize("encoding", PACKED)
def test_a_body_that_hardly_shrinks_costs_linear_time(encoding: str) -> None:
    data = random.Random(2).randbytes(2**25)
    small, large = PACKED[encoding](data[: 2**23]), PACKED[encoding](data)
    smallest = cpu_seconds(lambda: expanded(small, encoding, MAX_BYTES))
    assert cpu_seconds(lambda: expanded(large, encoding, MAX_BYTES)) < max(8 * smallest, 0.5)


def test_a_window_beyond_8_mib_is_refused() -> None:
    options = {int(zstd.CompressionParameter.window_log): 24, int(zstd.CompressionParameter.content_size_flag): 0}
    compressor = zstd.ZstdCompressor(options=options)
    body = compressor.compress(b"x" * 2**25) + compressor.flush()
    with pytest.raises(MalformedBodyError):
        expanded(body, "zstd", MAX_BYTES)
