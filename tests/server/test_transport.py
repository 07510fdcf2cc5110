"""A real uvicorn with our protocol: how its answers arrive at a socket."""

import asyncio
import socket
import threading
from time import monotonic, sleep

import pytest
from starlette.types import Receive, Scope, Send

from app.server.protocol import MAX_BUFFERED, CoalescingTransport
from tests.server.serving import GET, WITHIN, body, served, start


def all_of(client: socket.socket, end: bytes) -> bytes:
    found = b""
    while not found.endswith(end):
        piece = client.recv(2**20)
        assert piece
        found += piece
    return found


def test_head_and_body_come_together() -> None:
    async def app(_: Scope, __: Receive, send: Send) -> None:
        await send(start(5))
        sleep(0.001)  # long enough for a client to take what there is
        await send(body(b"whole"))

    with served(app) as connect, connect() as client:
        for _ in range(20):
            client.sendall(GET)
            assert client.recv(4096).endswith(b"\r\n\r\nwhole")


def test_a_head_does_not_wait_for_a_body_that_takes_its_time() -> None:
    head_was_read = threading.Event()

    async def app(_: Scope, __: Receive, send: Send) -> None:
        await send(start())
        await asyncio.to_thread(head_was_read.wait, WITHIN)
        await send(body(b"then"))

    with served(app) as connect, connect() as client:
        client.sendall(GET)
        assert client.recv(4096).endswith(b"\r\n\r\n")
        head_was_read.set()
        assert all_of(client, b"0\r\n\r\n") == b"4\r\nthen\r\n0\r\n\r\n"


@pytest.mark.parametrize("turns", [True, False])
def test_pieces_come_in_their_order(turns: bool) -> None:
    pieces = [bytes([65 + number % 26]) * (1 + 997 * number) for number in range(300)]

    async def app(_: Scope, __: Receive, send: Send) -> None:
        await send(start(sum(map(len, pieces))))
        for piece in pieces:
            await send(body(piece, more=True))
            if turns:
                await asyncio.sleep(0)
        await send(body(b""))

    with served(app) as connect, connect() as client:
        client.sendall(GET)
        found = b""
        while len(found.partition(b"\r\n\r\n")[2]) < sum(map(len, pieces)):
            found += client.recv(2**20)
        assert found.partition(b"\r\n\r\n")[2] == b"".join(pieces)


def test_an_application_that_never_waits_gets_an_error_where_its_client_does_not_read() -> None:
    made, slow = 0, threading.Event()

    async def app(_: Scope, __: Receive, send: Send) -> None:
        nonlocal made
        await send(start())
        while not slow.is_set():
            await send(body(bytes(MAX_BUFFERED // 2), more=True))
            made += 1
        await send(body(b""))

    with served(app) as connect, connect() as client:
        client.sendall(GET)
        until = monotonic() + WITHIN
        before = -1
        while made > before or not made:  # until the kernel's buffers are full
            assert monotonic() < until
            before = made
            sleep(0.2)
        slow.set()
        assert all_of(client, b"\r\n0\r\n\r\n")
        assert made < 1_000


def test_a_client_that_expects_100_continue_gets_it() -> None:
    async def app(_: Scope, receive: Receive, send: Send) -> None:
        given = (await receive())["body"]
        await send(start(len(given)))
        await send(body(given))

    with served(app) as connect, connect() as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
        assert client.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"said")
        assert client.recv(4096).endswith(b"\r\n\r\nsaid")


def test_what_is_kept_is_written_before_the_connection_ends() -> None:
    async def app(_: Scope, __: Receive, send: Send) -> None:
        await send(start(5))
        await send(body(b"whole"))

    with served(app) as connect, connect() as client:
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert all_of(client, b"whole").startswith(b"HTTP/1.1 200 OK\r\n")
        assert client.recv(1) == b""
        with connect() as other:
            other.sendall(b"nothing that is HTTP\r\n\r\n")
            assert all_of(other, b"}").startswith(b"HTTP/1.1 400 Bad Request\r\n")


def test_nothing_is_written_to_a_client_that_has_left() -> None:
    failures: list[str] = []
    ended = threading.Event()

    async def app(_: Scope, receive: Receive, send: Send) -> None:
        await send(start())
        while (await receive())["type"] != "http.disconnect":
            pass
        await send(body(b"too late"))
        ended.set()

    with served(app, failures) as connect:
        for _ in range(20):
            with connect() as client:
                client.sendall(GET)
            assert ended.wait(WITHIN)
            ended.clear()
    assert failures == []


def test_a_piece_that_was_kept_is_not_written_once_the_connection_is_closing() -> None:
    class Closing(asyncio.Transport):
        def is_closing(self) -> bool:
            return True

    loop = asyncio.new_event_loop()
    try:
        CoalescingTransport(Closing(), loop).write(b"kept")  # would raise NotImplementedError in the loop
        failures: list[object] = []
        loop.set_exception_handler(lambda _, context: failures.append(context))
        loop.run_until_complete(asyncio.sleep(0))
        assert failures == []
    finally:
        loop.close()
