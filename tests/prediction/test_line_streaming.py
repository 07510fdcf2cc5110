"""NDJSON for NDJSON: answers leave while rows still come."""

import asyncio
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.testclient import TestClient
from starlette.types import Message, Scope

from app.identity import BUILT_IN_OWNER as OWNER
from app.main import make_application
from tests.applications import LIMITS, SmallParts
from tests.small_models import version_of_numbers

ND = "application/x-ndjson"
PATH = "/v1/models/numbers/predict"
ROW = b'{"x": 1.5, "a": 0.25, "b": 3}\n'


@pytest.fixture(autouse=True)
def model(parts: SmallParts) -> None:
    parts.stored.put_version(OWNER, version_of_numbers(), number=1)


def scope_of(path: str, query: bytes = b"") -> Scope:
    headers = [(b"content-type", ND.encode()), (b"accept", ND.encode())]
    return {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "root_path": "",
        "scheme": "http",
        "headers": [(b"host", b"localhost"), *headers],
        "server": ("test", 80),
        "client": ("test", 1),
    }


async def conversation(parts: SmallParts, pieces: list[bytes], query: bytes = b"") -> list[tuple[int, Message]]:
    """The messages sent, each with the number of pieces received by then; the connection ends after the last piece."""
    n_received, sent = 0, list[tuple[int, Message]]()

    async def receive() -> Message:
        nonlocal n_received
        n_received += 1
        if n_received > len(pieces):
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": pieces[n_received - 1], "more_body": n_received < len(pieces)}

    async def send(message: Message) -> None:
        sent.append((n_received, message))

    await make_application(parts, LIMITS)(scope_of(PATH, query), receive, send)
    return sent


def lines_of(sent: list[tuple[int, Message]]) -> list[tuple[int, dict[str, object]]]:
    return [
        (n_received, json.loads(line))
        for n_received, message in sent
        if message["type"] == "http.response.body"
        for line in message["body"].splitlines()
    ]


def test_no_piece_is_taken_before_the_responses_to_the_last_have_left(parts: SmallParts) -> None:
    cut = [ROW + ROW[:9], ROW[9:] + ROW[:-1], b"\n\n" + ROW[:3], ROW[3:-1]]
    sent = asyncio.run(conversation(parts, cut))
    assert sent[0][0] == 1
    assert sent[0][1]["status"] == 200
    assert [n_received for n_received, _ in lines_of(sent)] == [1, 2, 3, 4]
    assert sent[-1][1] == {"type": "http.response.body", "body": b"", "more_body": False}


def test_the_responses_are_those_of_the_whole_body(client: TestClient, parts: SmallParts) -> None:
    rows = [{"x": n / 7, "a": -n, "b": 1e3 * n} for n in range(5)]
    body = "\n".join(map(json.dumps, rows)).encode()
    full = client.post(PATH, json={"rows": rows}).json()["predictions"]
    at_once = client.post(PATH, content=body, headers={"Content-Type": ND, "Accept": ND})
    assert at_once.headers["Content-Type"] == ND
    assert [*map(json.loads, at_once.text.splitlines())] == full
    pieces = [body[first : first + 10] for first in range(0, len(body), 10)]
    assert [line["mean"] for _, line in lines_of(asyncio.run(conversation(parts, pieces)))] == pytest.approx(
        [row["mean"] for row in full], rel=1e-12
    )


def test_an_error_in_the_middle_is_the_last_line(parts: SmallParts) -> None:
    sent = asyncio.run(conversation(parts, [ROW, b"\n" + ROW + b'{"x": "far", "a": 1, "b": 1}\n', ROW, ROW]))
    (first, written), (second, last) = lines_of(sent)
    assert (first, second) == (1, 2)
    assert "mean" in written
    assert last == {
        "error": {
            "type": "/problems/invalid-data",
            "title": "Invalid data",
            "status": 422,
            "detail": 'Line 4, column "x": "far" is not a number.',
            "errors": [{"row": 2, "column": "x", "line": 4, "detail": '"far" is not a number.'}],
        }
    }
    assert sent[-1][1]["more_body"] is False


def test_with_per_row_an_error_is_a_line_among_the_others(parts: SmallParts) -> None:
    pieces = [ROW, ROW + b'{"x": "far", "a": 1, "b": 1}\nno JSON\n', ROW]
    lines = [line for _, line in lines_of(asyncio.run(conversation(parts, pieces, b"on_error=per_row")))]
    assert ["error" in line for line in lines] == [False, False, True, True, False]
    assert [line["error"]["errors"][0]["row"] for line in lines[2:4]] == [2, 3]  # type: ignore[index]
    assert [line["error"]["errors"][0]["line"] for line in lines[2:4]] == [3, 4]  # type: ignore[index]


@pytest.mark.parametrize(
    ("pieces", "detail"),
    [
        ([ROW] * 6, "Expected at most 5 rows, got more; split the request."),
        ([ROW, ROW + b" " * 5000], "Expected a body of at most 4096 bytes, got more."),
    ],
)
def test_a_limit_that_is_passed_in_the_middle_is_the_last_line(
    parts: SmallParts, pieces: list[bytes], detail: str
) -> None:
    lines = [line for _, line in lines_of(asyncio.run(conversation(parts, pieces)))]
    assert lines[-1]["error"]["detail"] == detail  # type: ignore[index]
    assert lines[-1]["error"]["status"] == 413  # type: ignore[index]


def test_what_is_wrong_before_the_first_line_is_the_response(client: TestClient) -> None:
    headers = {"Content-Type": ND, "Accept": ND}
    for path, body, status in (
        (PATH, b'{"x": 1}\n', 422),
        (PATH, b"no JSON", 400),
        (PATH, b"\n", 422),
        (f"{PATH}?interval=2", ROW, 422),
        (f"{PATH}?covariance=true", ROW, 422),
        ("/v1/models/nobody/predict", ROW, 404),
    ):
        response = client.post(path, content=body, headers=headers)
        assert response.status_code == status
        assert response.headers["Content-Type"] == "application/problem+json"


def sent_before_disconnect(parts: SmallParts, scope: Scope, begun: bytes) -> list[Message]:
    """The messages sent to a client that leaves when it has sent the beginning of its body."""
    messages: list[Message] = [
        {"type": "http.request", "body": begun, "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[Message] = []

    async def receive() -> Message:
        return messages.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(make_application(parts, LIMITS)(scope, receive, send))
    return sent


def test_a_client_that_leaves_in_the_middle_ends_it_quietly(parts: SmallParts) -> None:
    assert len(sent_before_disconnect(parts, scope_of(PATH), ROW)) == 2


@pytest.mark.parametrize("path", [PATH, "/v2/models/small/infer", "/v1/training-jobs", "/v1/models/twin/versions"])
def test_a_client_that_leaves_before_its_body_has_come_is_no_failure_of_the_service(
    parts: SmallParts, path: str
) -> None:
    scope = {**scope_of(path), "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")]}
    start, body = sent_before_disconnect(parts, scope, b'{"rows": [')
    assert start["status"] == 400
    given = json.loads(body["body"])
    assert (
        given.get("detail", given.get("error")) == "Expected a complete body, got a connection closed before its end."
    )


@pytest.fixture
def address(parts: SmallParts) -> Iterator[tuple[str, int]]:
    """Of a real server."""
    server = uvicorn.Server(uvicorn.Config(make_application(parts, LIMITS), log_config=None))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listening.getsockname()
        server.should_exit = True
        thread.join(10)


def test_over_a_socket_the_first_prediction_comes_before_the_second_row_is_sent(address: tuple[str, int]) -> None:
    connection = http.client.HTTPConnection(*address, timeout=10)
    connection.putrequest("POST", PATH)
    for name, value in (("Content-Type", ND), ("Accept", ND), ("Transfer-Encoding", "chunked")):
        connection.putheader(name, value)
    connection.endheaders()

    def send(row: bytes) -> None:
        connection.send(b"%x\r\n%b\r\n" % (len(row), row))

    send(ROW)
    # The answer is read while the request is not over, which http.client has no call for.
    response = http.client.HTTPResponse(connection.sock, method="POST")
    response.begin()
    assert "mean" in json.loads(response.readline())
    send(ROW)
    assert "mean" in json.loads(response.readline())
    connection.send(b"0\r\n\r\n")
    assert response.read() == b""
    connection.close()
