"""Requests that the HTTP/1.1 protocol refuses, over real sockets: too large, too slow, too many, or not HTTP."""

import asyncio
import json
import socket
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import repeat
from time import monotonic, sleep

import pytest
from starlette.types import Receive, Scope, Send

from app.server.protocol import MAX_PIPELINED
from app.server.server import ConnectionLimits
from tests.server.serving import WITHIN, Connect, body, response_of, served, start

LIMITS = ConnectionLimits()
KIB = 1024


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the number of body bytes and the names of the header fields, once the body is there."""
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size += len(message["body"])
        if not message["more_body"]:
            break
    names = sorted(name.decode() for name, _ in scope["headers"])
    content = json.dumps({"size": size, "names": names}).encode()
    await send(start(len(content)))
    await send(body(content))


@pytest.fixture(scope="module")
def connect() -> Iterator[Connect]:
    with served(echo) as connect:
        yield connect


def everything_from(client: socket.socket) -> bytes:
    """All that comes until the server closes."""
    found = b""
    with suppress(ConnectionResetError):
        while piece := client.recv(65536):
            found += piece
    return found


def refused(client: socket.socket, status: int, slug: str) -> dict[str, object]:
    """The problem with which the connection ends."""
    found, headers, content = response_of(client)
    assert found == status, content
    assert headers["content-type"] == "application/problem+json"
    assert headers["connection"] == "close"
    assert headers["x-content-type-options"] == "nosniff"
    problem: dict[str, object] = json.loads(content)
    assert problem["type"] == f"/problems/{slug}"
    assert problem["status"] == status
    assert problem["request_id"] == headers["x-request-id"]
    assert everything_from(client) == b""
    return problem


def head(size: int, *, fields: int = 1) -> bytes:
    """A whole header section of `size` bytes."""
    begin = b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n"
    each = (size - len(begin) - 2) // fields
    lines = [b"a" * (each - 4) + b": \r\n" for _ in range(fields)]
    lines[-1] = b"a" * (size - len(begin) - 2 - each * (fields - 1) - 4) + b": \r\n"
    return begin + b"".join(lines) + b"\r\n"


@pytest.mark.parametrize("step", [10**6, 1, 4096])
def test_a_header_section_is_bounded_to_the_byte(connect: Connect, step: int) -> None:
    for size, status in ((LIMITS.max_header_bytes, 200), (LIMITS.max_header_bytes + 1, 431)):
        with connect() as client:
            full = head(size)
            assert len(full) == size
            if step == 1:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                client.sendall(full[:-1000])
                full = full[-1000:]
            for at in range(0, len(full), step):
                client.sendall(full[at : at + step])
            if status == 200:
                assert response_of(client)[0] == 200
            else:
                refused(client, 431, "headers-too-large")


def test_header_fields_are_bounded(connect: Connect) -> None:
    for fields, status in ((LIMITS.max_header_fields - 2, 200), (LIMITS.max_header_fields - 1, 431)):
        with connect() as client:
            client.sendall(head(4096, fields=fields))
            if status == 200:
                assert response_of(client)[0] == 200
            else:
                assert "got 101" in str(refused(client, 431, "headers-too-large")["detail"])


def test_a_long_request_target_is_414(connect: Connect) -> None:
    with connect() as client:
        client.sendall(b"GET /v1/models?" + b"a" * LIMITS.max_header_bytes + b" HTTP/1.1\r\n")
        assert refused(client, 414, "uri-too-long")["instance"] == "/v1/models"


@pytest.mark.parametrize(
    "begin",
    [b"GET / HTTP/1.1\r\nHost: h\r\nA: ", b"GET / HTTP/1.1\r\nHost: h\r\n", b"GET / HTTP/1.1\r\n", b"GET ", b""],
    ids=["value", "name", "headers", "target", "line breaks"],
)
def test_a_header_section_without_end_takes_no_memory(connect: Connect, begin: bytes) -> None:
    piece = {b"": b"\r\n" * 32768}.get(begin, b"a" * 65536)
    if begin.endswith(b"1.1\r\n"):
        piece = b"a: b\r\n" * 10922
    with connect() as client:
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            with suppress(OSError):
                client.sendall(begin)
                for part in repeat(piece, 300):  # 20 MB
                    client.sendall(part)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak - before < 4 * 2**20
        assert everything_from(client).split(b"\r\n")[0].split()[1] in {b"431", b"414", b"400"}


CHUNKED = b"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_trailers_are_dropped(connect: Connect) -> None:
    with connect() as client:
        client.sendall(CHUNKED + b"1\r\nx\r\n0\r\nAuthorization: Bearer key\r\nX-Request-ID: other\r\n\r\n")
        status, _, content = response_of(client)
        assert status == 200
        assert json.loads(content) == {"size": 1, "names": ["host", "transfer-encoding"]}
        client.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")  # and the connection goes on
        assert json.loads(response_of(client)[2]) == {"size": 0, "names": ["host"]}


@pytest.mark.parametrize(
    "rest",
    [
        b"0\r\n" + b"a: b\r\n" * 12_000,
        b"0\r\n" + b"a: b\r\n" * 101 + b"\r\n",
        b"0\r\na: " + b"b" * 70_000,
        b"1;" + b"x" * 70_000,
    ],
    ids=["bytes", "fields", "value", "extension"],
)
def test_trailers_and_chunk_extensions_are_bounded(connect: Connect, rest: bytes) -> None:
    with connect() as client:
        client.sendall(CHUNKED + b"1\r\nx\r\n" + rest)
        refused(client, 431, "headers-too-large")


def test_a_body_of_tiny_chunks_is_whole(connect: Connect) -> None:
    with connect() as client:
        client.sendall(CHUNKED + b"1\r\nx\r\n" * 50_000 + b"0\r\n\r\n")
        assert json.loads(response_of(client)[2])["size"] == 50_000


def test_chunk_extensions_cannot_be_spread_over_a_body(connect: Connect) -> None:
    with connect() as client:
        with suppress(OSError):
            client.sendall(CHUNKED + (b"1;" + b"x" * 500 + b"\r\nx\r\n") * 200)
        refused(client, 431, "headers-too-large")


def test_requests_in_one_segment_are_each_bounded_and_get_responses_in_order(connect: Connect) -> None:
    with connect() as client:
        client.sendall(head(8192) * 12)
        assert [response_of(client)[0] for _ in range(12)] == [200] * 12


@pytest.mark.parametrize("ahead", [1, 3])
def test_what_comes_before_a_request_with_a_broken_body_gets_a_response(connect: Connect, ahead: int) -> None:
    with connect() as client:
        client.sendall(
            b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabcde" * ahead + CHUNKED + b"nonsense\r\n"
        )
        read_responses = [response_of(client) for _ in range(ahead)]
        assert [(status, json.loads(content)["size"]) for status, _, content in read_responses] == [(200, 5)] * ahead
        assert read_responses[-1][1]["connection"] == "close"
        assert everything_from(client) == b""


def test_what_comes_before_a_refused_request_gets_a_response(connect: Connect) -> None:
    with connect() as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\n: bad\r\n\r\n")
        found = everything_from(client)
    assert found.count(b"HTTP/1.1 ") == 1
    assert b'"size": 3' in found


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # a TLS ClientHello
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",  # the HTTP/2 preface
        b"nonsense\r\n\r\n",
        b"FETCH / HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: h\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET http:// HTTP/1.1\r\nHost: h\r\n\r\n",
        b"CONNECT example.com:443 HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nNo colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nA\x00: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nA: \x00\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 2\r\n\r\nx",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n",
        CHUNKED + b"zz\r\n",
        CHUNKED + b"ffffffffffffffffffff\r\n",
    ],
)
def test_what_is_not_http_is_a_problem(connect: Connect, request_bytes: bytes) -> None:
    with connect() as client:
        client.sendall(request_bytes)
        refused(client, 400, "malformed-request")


def test_a_request_to_upgrade_gets_a_response_in_http_1_1(connect: Connect) -> None:
    with connect() as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
        status, headers, _ = response_of(client)
        assert (status, headers["connection"]) == (200, "close")


def test_a_slow_header_section_is_refused_and_a_silent_connection_closed() -> None:
    limits = ConnectionLimits(header_timeout_seconds=0.5)
    with served(echo, limits=limits) as connect, connect() as silent, connect() as slow, connect() as second:
        slow.sendall(b"GET / HTTP/1.1\r\nHos")
        second.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert response_of(second)[0] == 200
        second.sendall(b"G")
        assert everything_from(silent) == b""
        refused(slow, 408, "request-timeout")
        refused(second, 408, "request-timeout")


def test_a_header_section_that_comes_in_time_is_served() -> None:
    with served(echo, limits=ConnectionLimits(header_timeout_seconds=2.5)) as connect, connect() as client:
        for piece in (b"GET / HTTP/1.1\r\n", b"Host: h\r\n", b"\r\n"):
            sleep(0.4)
            client.sendall(piece)
        assert response_of(client)[0] == 200


def test_a_slow_body_is_refused_and_a_steady_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.server.server.BODY_WINDOW_SECONDS", 1.0)
    request = b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 10000\r\n\r\n"
    limits = ConnectionLimits(min_body_bytes_per_second=1000)
    with served(echo, limits=limits) as connect, connect() as slow, connect() as steady:
        slow.sendall(request + b"x")
        steady.sendall(request)
        for _ in range(20):
            sleep(0.15)
            steady.sendall(b"x" * 500)
            with suppress(OSError):
                slow.send(b"x")
        assert response_of(steady)[0] == 200
        assert "1000 bytes per second" in str(refused(slow, 408, "request-timeout")["detail"])


def test_a_body_that_the_server_does_not_read_is_not_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    # Half of the time in which the server does not read, and enough for a slow machine to send what it then waits for.
    monkeypatch.setattr("app.server.server.BODY_WINDOW_SECONDS", 1.5)

    async def busy(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(3)
        await echo(scope, receive, send)

    with served(busy) as connect, connect() as client, connect() as expecting:
        expecting.sendall(b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
        client.sendall(b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 500_000)
        sleep(2.8)
        client.sendall(b"x" * 500_000)
        assert response_of(client)[0] == 200
        assert expecting.recv(100).startswith(b"HTTP/1.1 100")
        expecting.sendall(b"x")
        assert response_of(expecting)[0] == 200


def test_at_the_cap_the_connection_longest_without_a_request_is_closed() -> None:
    with served(echo, limits=ConnectionLimits(max_connections=10)) as connect:
        kept = connect()
        kept.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert response_of(kept)[0] == 200
        crowd = []
        for _ in range(40):
            crowd.append(connect())
            crowd[-1].sendall(b"GET / HT")
        began = monotonic()
        for _ in range(5):
            with connect() as client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                assert response_of(client)[0] == 200
        kept.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert response_of(kept)[0] == 200  # it has sent a request: it is not among those that are closed first
        assert monotonic() - began < WITHIN / 2
        assert everything_from(crowd[0]) == b""
        for one in [kept, *crowd]:
            one.close()


def test_at_the_cap_an_idle_connection_is_closed() -> None:
    with served(echo, limits=ConnectionLimits(max_connections=4)) as connect:
        idle = [connect() for _ in range(4)]
        for one in idle:
            one.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            assert response_of(one)[0] == 200
        with closing(connect()) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            assert response_of(client)[0] == 200
        for one in idle:
            one.close()


def test_requests_sent_ahead_are_bounded() -> None:
    begun, go_on = threading.Event(), threading.Event()

    async def waits(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        await asyncio.to_thread(go_on.wait, WITHIN)
        await echo(scope, receive, send)

    with served(waits) as connect, connect() as client:
        client.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10_000)
        assert begun.wait(WITHIN)
        sleep(0.2)
        go_on.set()
        responses = everything_from(client).split(b"HTTP/1.1 ")[1:]
    assert len(responses) == MAX_PIPELINED + 1
    assert all(response.startswith(b"200") for response in responses)
    assert b"connection: close" in responses[-1]


def test_requests_sent_ahead_are_executed_in_turn_with_those_of_other_connections() -> None:
    """While the first of one connection is executed, another connection sends one: it waits for few of the others."""
    executed: list[str] = []

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        executed.append(scope["path"])
        if executed == ["/accepted", "/ahead"]:
            other.sendall(b"GET /other HTTP/1.1\r\nHost: h\r\n\r\n")
        await echo(scope, receive, send)

    with served(counted) as connect, connect() as first, connect() as other:
        other.sendall(b"GET /accepted HTTP/1.1\r\nHost: h\r\n\r\n")
        assert response_of(other)[0] == 200
        first.sendall(b"GET /ahead HTTP/1.1\r\nHost: h\r\n\r\n" * MAX_PIPELINED)
        assert [response_of(first)[0] for _ in range(MAX_PIPELINED)] == [200] * MAX_PIPELINED
        assert response_of(other)[0] == 200
    assert executed.count("/ahead") == MAX_PIPELINED
    assert executed.index("/other") <= 5, executed


def test_a_body_is_not_slow_once_its_response_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.server.server.BODY_WINDOW_SECONDS", 0.5)

    async def line_by_line(scope: Scope, receive: Receive, send: Send) -> None:
        await send(start(3))
        while (message := await receive())["more_body"]:
            await send(body(message["body"], more=True))
        await send(body(message["body"]))

    with served(line_by_line) as connect, connect() as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nx")
        sleep(2.5)
        client.sendall(b"y")
        sleep(1.5)
        client.sendall(b"z")
        assert response_of(client)[2] == b"xyz"


def test_at_the_cap_a_response_that_is_still_being_sent_is_not_cut_off() -> None:
    content = b"x" * 20_000_000

    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        await send(start(len(content)))
        await send(body(content))

    with served(large, limits=ConnectionLimits(max_connections=2)) as connect, connect() as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        begin = slow.recv(1000)
        for _ in range(4):
            connect().close()
        with connect() as one, connect() as two:
            sleep(0.3)
            del one, two
        head, _, rest = begin.partition(b"\r\n\r\n")
        assert b"20000000" in head
        left = len(content) - len(rest)
        while left:
            piece = slow.recv(min(left, 1_000_000))
            assert piece, f"{left} bytes are missing"
            left -= len(piece)
