"""HEAD: the headers of GET, without the body."""

import re
import socket

from httpx2 import Response
from starlette.testclient import TestClient

from app.main import make_application
from tests.applications import DATASET, LIMITS, SUBMIT, SmallParts
from tests.doubles.authenticator import OneKey
from tests.http.test_openapi import operations
from tests.server.serving import served

KEY = "a key"


def paths_of_get(openapi: Response) -> list[str]:
    return [name.removeprefix("GET ") for name, _ in operations(openapi.json()) if "GET " in name]


def filled(client: TestClient, path: str) -> str:
    """A documented path with names of things that are there, as far as the fixtures have them."""
    job = client.post("/v1/training-jobs", json=SUBMIT).json()["id"]
    names = {"name": "small", "version": "1", "alias": "champion", "dataset_id": str(DATASET.id), "job_id": str(job)}
    return re.sub(r"{(\w+)}", lambda found: names.get(str(found[1]), str(found[1])), path)


def test_every_path_with_get_has_head(client: TestClient, openapi: Response) -> None:
    assert client.put("/v1/models/small/aliases/champion", json={"version": 1}).status_code == 201
    paths = [filled(client, path) for path in paths_of_get(openapi)]
    succeeded = 0
    for path in [*paths, "/openapi.json", "/docs", "/redoc", "/static-offline-docs/swagger-ui.css"]:
        got, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (got.status_code, b""), path
        expected, found = dict(got.headers), dict(head.headers)
        assert expected.pop("x-request-id") != found.pop("x-request-id")
        assert found == expected, path
        assert "content-length" in found or path == "/v1/audit/export", path  # of a length that is not known
        succeeded += head.status_code == 200
    assert succeeded > 25


def test_a_known_tag_is_not_modified_for_head(client: TestClient) -> None:
    tag = client.head("/v1/models/small/versions/1").headers["ETag"]
    assert client.head("/v1/models/small/versions/1", headers={"If-None-Match": tag}).status_code == 304


def test_methods_that_are_allowed_include_head_where_get_is(client: TestClient) -> None:
    assert client.delete("/v1/training-jobs").headers["Allow"] == "GET, HEAD, POST"
    assert client.post("/openapi.json").headers["Allow"] == "GET, HEAD"
    refused = client.head("/v1/models/small/predict")
    assert (refused.status_code, refused.headers["Allow"]) == (405, "POST")


def test_head_is_not_documented_beside_get(openapi: Response) -> None:
    assert not [name for name, _ in operations(openapi.json()) if name.startswith("HEAD ")]


def test_a_stream_of_events_that_goes_on_is_headers_at_once(client: TestClient) -> None:
    job = client.post("/v1/training-jobs", json=SUBMIT).json()["id"]
    head = client.head(f"/v1/training-jobs/{job}/events", headers={"Accept": "text/event-stream"})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"] == "text/event-stream; charset=utf-8"


def test_requests_go_on_after_head_on_the_same_connection(parts: SmallParts) -> None:
    application = make_application(parts, LIMITS, authenticator=OneKey(KEY))
    paths = ["/openapi.json", "/v1/models/small", "/nothing", "/health/live"]
    with served(application) as connect, connect() as client:
        for path in paths:
            client.sendall(f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        statuses = [status_without_body(client) for _ in paths]
    assert statuses == [200, 401, 404, 200]


def status_without_body(client: socket.socket) -> int:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += client.recv(1)
    assert head.startswith(b"HTTP/1.1 "), head
    return int(head.split()[1])
