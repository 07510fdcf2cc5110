"""Bodies made to cost more than they weigh are refused within a second of CPU time."""

import gc
import gzip
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TypeAlias

import httpx2
import pytest
from backports import zstd
from fastapi.testclient import TestClient

from app.errors import MalformedBodyError, TooLargeError
from app.formats.json_body import MAX_DEPTH, decode
from app.formats.line_stream import lines_of
from app.http.bodies import MAX_ELEMENTS, MAX_MEMBERS
from app.http.content_encodings import BYTES_PER_MEMBER, FREE_MEMBERS, expanded
from app.inference.requests import read_request
from app.main import make_application
from app.prediction import ServedVersion, predict
from app.prediction.json_codec import JsonCodec, max_containers
from app.prediction.runner import no_yield
from relevance_bayes.records.errors import InvalidDataError, RelevanceError
from tests.applications import LIMITS, SmallParts
from tests.problems import TITLES
from tests.served_versions import served
from tests.small_models import version_of_numbers
from tests.waiting import until

MANY = 200_000
CPU_SECONDS = 1.0
JSON = {"Content-Type": "application/json"}

Make: TypeAlias = Callable[[], bytes]
"""Makes a body of up to 40 MB, when its test runs."""


@contextmanager
def within_a_second() -> Iterator[None]:
    """Fails where the block takes more CPU time: of what is refused, less than a hundredth of what it was once."""
    began = time.process_time()
    yield
    assert time.process_time() - began < CPU_SECONDS


@cache
def members(count: int, value: str = "1") -> bytes:
    return b"{" + ",".join(f'"k{number}":{value}' for number in range(count)).encode() + b"}"


@pytest.fixture
def client(parts: SmallParts) -> Iterator[TestClient]:
    """A client of a service that takes bodies as large as services do."""
    limits = replace(LIMITS, max_body_bytes=32 * 2**20)
    with TestClient(
        make_application(parts, limits), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        yield client


@pytest.fixture(scope="module")
def numbers() -> ServedVersion:
    return served(version_of_numbers())


def refused(response: httpx2.Response, slug: str) -> dict[str, object]:
    problem: dict[str, object] = response.json()
    assert (response.status_code, problem["type"]) == (TITLES[slug][0], f"/problems/{slug}"), problem
    return problem


def outcome(version: ServedVersion, body: bytes) -> bytes | RelevanceError:
    try:
        codec = JsonCodec(body, 100_000)
        request = codec.read(version, no_yield)
        return b"".join(codec.render(version, request, predict(version, request)))
    except RelevanceError as error:
        return error


SMALL_BODIES = [
    ("POST", "/v1/training-jobs"),
    ("POST", "/v1/evaluations"),
    ("POST", "/v1/batch-predictions"),
    ("POST", "/v1/models/small/aliases/champion/promotions"),
    ("POST", "/v1/webhooks"),
    ("PUT", "/v1/models/small/aliases/champion"),
    ("PATCH", "/v1/models/small"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("method", "path"), SMALL_BODIES)
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: members(MANY), "invalid-request"),
        (lambda: b'{"tags":' + members(MANY) + b"}", "invalid-request"),
        (lambda: b'{"inputs":[' + b"1," * MANY + b"1]}", "invalid-request"),
        (lambda: b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "malformed-body"),
        (lambda: b'{"a":' + b'{"b":' * 900 + b"1" + b"}" * 901, "malformed-body"),
        (lambda: b"{" + b'"a":1,' * MANY + b'"a":1}', "malformed-body"),
        (lambda: b'{"a":[' + b"NaN," * MANY + b"NaN]}", "invalid-data"),
        (lambda: b'{"inputs":[' + b"{}," * 10_000_000 + b"{}]}", "too-large"),
    ],
    ids=["members", "tags", "elements", "brackets", "objects", "repeated", "NaN", "empty objects"],
)
def test_a_small_body_is_bounded(client: TestClient, method: str, path: str, make: Make, kind: str) -> None:
    body = make()
    with within_a_second():
        response = client.request(method, path, content=body, headers=JSON)
    problem = refused(response, kind)
    assert len(str(problem)) < 100_000


def test_bounds_of_small_bodies_are_stated(client: TestClient) -> None:
    response = client.post("/v1/webhooks", content=members(MAX_MEMBERS + 1), headers=JSON)
    assert refused(response, "invalid-request")["detail"] == "Expected at most 1,000 members of objects, got more."
    response = client.post("/v1/webhooks", json={"url": list(range(MAX_ELEMENTS + 1))})
    assert refused(response, "invalid-request")["detail"] == "Expected at most 50,000 elements of arrays, got more."
    # At the bound what is wrong is still listed, up to a hundred errors.
    problem = refused(client.post("/v1/webhooks", content=members(MAX_MEMBERS), headers=JSON), "invalid-request")
    assert "The member 'k0' is unknown" in str(problem["detail"]) or "k0" in str(problem["errors"])


def test_depth_is_bounded() -> None:
    assert decode(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    with pytest.raises(MalformedBodyError, match="at most 64"):
        decode(b"[" * (MAX_DEPTH + 2) + b"]" * (MAX_DEPTH + 2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: b'{"rows":[' + members(10 * MANY) + b"]}",
        lambda: b'{"columns":' + members(MANY, "[1]") + b"}",
        lambda: b'{"columns":{"x":1},"more":' + members(MANY) + b"}",
        lambda: b'{"rows":[{"x":1,"a":1,"b":1}],' + members(MANY)[1:],
        lambda: b'{"names":[' + b"1," * MANY + b'1],"rows":[[1]]}',
        lambda: b'{"names":[' + b'"x",' * MANY + b'"x"],"rows":[[1]]}',
        lambda: b'{"rows":[' + b"1," * 1_000_000 + b"1]}",
        lambda: b'{"rows":[' + b"{}," * 10_000_000 + b"{}]}",
        lambda: b'{"columns":{"x":[' + b"[]," * 10_000_000 + b"[]]}}",
    ],
    ids=[
        *("members of a row", "columns", "members", "unknown members", "names", "name twice", "rows", "empty rows"),
        "columns of arrays",
    ],
)
def test_a_table_is_bounded_by_what_is_known_of_it(numbers: ServedVersion, make: Make) -> None:
    body = make()
    began = time.process_time()
    found = outcome(numbers, body)
    assert time.process_time() - began < 3 * CPU_SECONDS  # 20 MB of JSON are decoded, at most
    assert isinstance(found, InvalidDataError | TooLargeError)
    assert len(found.faults) <= 1_000


TENSOR = b'{"name":"x","shape":[1],"datatype":"FP64","data":[1]}'


@pytest.mark.parametrize(
    "make",
    [
        lambda: b'{"parameters":' + members(10 * MANY) + b',"inputs":[' + TENSOR + b"]}",
        lambda: b'{"inputs":[{"parameters":' + members(10 * MANY) + b"," + TENSOR[1:] + b"]}",
        lambda: b'{"inputs":[{"parameters":' + members(MAX_MEMBERS + 1) + b"," + TENSOR[1:] + b"]}",
        lambda: b'{"inputs":[' + (TENSOR + b",") * MANY + TENSOR + b"]}",
        lambda: b'{"inputs":[' + TENSOR + b'],"outputs":[' + b'{"name":"x"},' * 2_000_000 + b'{"name":"x"}]}',
        lambda: TENSOR.replace(b"[1],", b"[" + b"1," * 10_000_000 + b"1],").join([b'{"inputs":[', b"]}"]),
        lambda: TENSOR.replace(b"[1]}", b"[" + b"[]," * 10_000_000 + b"[]]}").join([b'{"inputs":[', b"]}"]),
    ],
    ids=["parameters", "of a tensor", "a few of a tensor", "inputs", "outputs", "shape", "arrays"],
)
def test_a_request_for_inference_is_bounded(make: Make) -> None:
    body = make()
    began = time.process_time()
    with pytest.raises((InvalidDataError, MalformedBodyError, TooLargeError)) as refused:
        read_request(body, None, max_containers=max_containers(100_000))
    assert time.process_time() - began < 2 * CPU_SECONDS
    assert len(refused.value.detail) < 1_000


@pytest.mark.thorough
def test_every_wrong_row_is_reported_and_not_every_cell(numbers: ServedVersion) -> None:
    names = [name for name, _ in numbers.columns]
    row = "{" + ",".join(f'"{name}":"a"' for name in names) + "}"
    body = ('{"on_error":"per_row","rows":[' + ",".join([row] * 50_000) + "]}").encode()
    began = time.process_time()
    found = outcome(numbers, body)
    assert time.process_time() - began < 5 * CPU_SECONDS
    assert isinstance(found, bytes)
    reported = decode(found)
    assert isinstance(reported, dict)
    predictions = reported["predictions"]
    assert isinstance(predictions, list)
    problems = [row["error"] for row in predictions if isinstance(row, dict)]
    assert len(problems) == 50_000
    assert all(isinstance(problem, dict) and problem["errors"] for problem in problems)


def test_lines_are_not_read_beyond_the_rows_that_may_be() -> None:
    with within_a_second():
        assert len(lines_of(b"1\n" * 10_000_000, 1000)) == 1001


PACKERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd.compress}


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("content", [b"", b"x"])
def test_members_are_bounded(encoding: str, content: bytes) -> None:
    member = PACKERS[encoding](content)
    assert expanded(member * FREE_MEMBERS, encoding, 10**6) == content * FREE_MEMBERS
    with within_a_second(), pytest.raises(MalformedBodyError, match="too many"):
        expanded(member * 100_000, encoding, 10**6)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_members_that_hold_something_may_be_many(encoding: str) -> None:
    member = PACKERS[encoding](b"0" * BYTES_PER_MEMBER)
    assert len(expanded(member * 3 * FREE_MEMBERS, encoding, 10**9)) == 3 * FREE_MEMBERS * BYTES_PER_MEMBER


def test_a_body_that_packs_well_is_unpacked_in_linear_time() -> None:
    content = bytes(50_000_000)
    with within_a_second():
        assert len(expanded(zlib.compress(content, 1), "deflate", 10**8)) == len(content)


def test_skippable_frames_of_zstd_are_members() -> None:
    frame = b"\x50\x2a\x4d\x18\x00\x00\x00\x00"
    with within_a_second(), pytest.raises(MalformedBodyError):
        expanded(frame * 100_000, "zstd", 10**6)


def test_an_import_with_unknown_members_is_refused_in_time(client: TestClient) -> None:
    document = decode(client.get("/v1/models/small/versions/1/export").content)
    assert isinstance(document, dict)
    spoilt = [
        {**document, **{f"k{number}": 1 for number in range(90_000)}},
        {**document, **{f"k{number}": 1 for number in range(MANY)}},
        {**document, "inputs": [1] * 1_000_000},
        {**document, "report": {f"k{number}": 1 for number in range(90_000)}},
    ]
    for one in spoilt:
        began = time.process_time()
        response = client.post("/v1/models/spoilt/versions", json=one)
        assert time.process_time() - began < 4 * CPU_SECONDS
        assert response.status_code == 422


@pytest.mark.parametrize("path", ["/v1/models/small/predict", "/v1/datasets", "/v2/models/small/infer"])
def test_a_body_that_was_refused_is_not_kept_until_garbage_is_collected(client: TestClient, path: str) -> None:
    body = b'{"rows":[' + members(MANY) + b"]}"
    client.post(path, content=body, headers=JSON)
    gc.collect()
    gc.disable()
    try:
        assert 400 <= client.post(path, content=body, headers=JSON).status_code < 500
        until(lambda: not any(isinstance(one, RelevanceError) for one in gc.get_objects()), seconds=5)
    finally:
        gc.enable()
