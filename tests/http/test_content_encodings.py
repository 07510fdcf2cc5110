"""`Content-Encoding` of request bodies: decoded on every path that takes a body, or refused with 415."""

import gzip
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

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
