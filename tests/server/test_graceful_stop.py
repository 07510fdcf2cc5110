"""A stop of the HTTP server, over real sockets: no request is lost, and it ends in time."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from threading import Event
from time import monotonic, sleep

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.authentication import AllowAny
from app.http.health import SHUTDOWN, Shutdown
from app.http.middleware import Entrance, Rules
from app.server.server import Config, ConnectionLimits, Server
from tests.server.serving import GET, WITHIN, Connect, body, response_of, start, started

SLOW = b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n"
STREAM = b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"
GRACE_SECONDS = 3


@dataclass
class Application:
    """Answers at once, except `/slow` and the rest of `/stream`, which wait for `may_end`."""

    may_end: Event = field(default_factory=Event)
    n_begun: int = 0
    ended_waits: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.shutdown = Shutdown(lambda: self.ended_waits.append(monotonic()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            scope["state"][SHUTDOWN] = self.shutdown
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        self.n_begun += 1
        if scope["path"] == "/stream":
            await send(start(2))
            await send(body(b"o", more=True))
        if scope["path"] != "/":
            while not self.may_end.is_set():
                await asyncio.sleep(0.01)
        if scope["path"] == "/stream":
            await send(body(b"k"))
            return
        await send(start(2))
        await send(body(b"ok"))


class Running:
    """A server in a thread, and the connections that a test opens."""

    def __init__(self, application: Application, config: Config, server: Server, connect: Connect) -> None:
        self.application = application
        self.server = server
        self._config = config
        self._connect = connect
        self._opened = ExitStack()

    def client(self, sent: bytes = b"") -> socket.socket:
        """A new connection, on which this has been sent."""
        client = self._opened.enter_context(self._connect())
        client.sendall(sent)
        return client

    def idle_client(self) -> socket.socket:
        """A connection on which one request has been answered."""
        client = self.client(GET)
        assert is_last(client) is False
        return client

    def busy_client(self, sent: bytes) -> socket.socket:
        """A connection whose request is being answered."""
        before = self.application.n_begun
        client = self.client(sent)
        until(lambda: self.application.n_begun > before)
        return client

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Do what the handler of a signal does, and wait until the stop has begun."""
        self.server.handle_exit(number, None)
        until(lambda: self._config.open_connections.is_draining)

    def until_it_does_not_listen(self) -> None:
        until(lambda: not self.server.servers[0].is_serving())

    def close(self) -> None:
        self.application.may_end.set()
        self._opened.close()


@contextmanager
def running(*, drain_seconds: float = 0.0, within: Callable[[ASGIApp], ASGIApp] = lambda app: app) -> Iterator[Running]:
    application = Application()
    config = Config(within(application), ConnectionLimits(), drain_seconds=drain_seconds, grace_seconds=GRACE_SECONDS)
    with started(config) as (server, connect), closing(Running(application, config, server, connect)) as service:
        yield service


def until(condition: Callable[[], bool]) -> None:
    end = monotonic() + WITHIN
    while not condition():
        assert monotonic() < end
        sleep(0.01)


def is_last(client: socket.socket) -> bool:
    """Return whether the next response, which is a success, announces that the connection will be closed."""
    status, headers, content = response_of(client)
    assert (status, content) == (200, b"ok")
    return headers.get("connection") == "close"


def is_closed(client: socket.socket) -> bool:
    return client.recv(1) == b""


def test_no_keep_alive_connection_loses_a_request() -> None:
    with running(drain_seconds=1.0) as service:
        clients = [service.idle_client() for _ in range(24)]
        service.stop()
        for client in clients:
            client.sendall(GET)
        assert [is_last(client) for client in clients] == [True] * 24
        assert all(is_closed(client) for client in clients)


def test_new_connections_get_a_response_during_the_drain_and_are_refused_after_it() -> None:
    with running(drain_seconds=0.5) as service:
        service.stop()
        client = service.client(GET)
        assert is_last(client)
        assert is_closed(client)
        service.until_it_does_not_listen()
        with pytest.raises(OSError, match="refused"):
            service.client()


def test_idle_connections_are_closed_after_open_requests_have_ended() -> None:
    with running() as service:
        idle, other, busy = service.idle_client(), service.idle_client(), service.busy_client(SLOW)
        service.stop()
        service.until_it_does_not_listen()
        idle.sendall(GET)
        assert is_last(idle)
        service.application.may_end.set()
        assert is_last(busy)
        assert is_closed(other)


def test_a_response_that_had_begun_is_followed_by_one_more() -> None:
    with running(drain_seconds=1.0) as service:
        client = service.busy_client(STREAM)
        service.stop()
        service.application.may_end.set()
        assert not is_last(client)
        client.sendall(GET)
        assert is_last(client)


def test_requests_sent_ahead_all_get_a_response_and_the_last_response_states_close() -> None:
    with running(drain_seconds=1.0) as service:
        earlier, later = service.busy_client(SLOW + GET), service.busy_client(SLOW)
        service.stop()
        later.sendall(GET)
        sleep(0.05)
        service.application.may_end.set()
        for client in (earlier, later, service.client(GET + GET)):
            assert [is_last(client), is_last(client)] == [False, True]
            assert is_closed(client)


def test_a_request_whose_header_section_is_arriving_gets_a_response() -> None:
    with running() as service:
        client = service.idle_client()
        client.sendall(GET[:-4])
        sleep(0.05)
        service.stop()
        service.until_it_does_not_listen()
        sleep(0.2)
        client.sendall(GET[-4:])
        assert is_last(client)


def test_after_ctrl_c_nothing_is_waited_for_where_no_connection_is_open() -> None:
    with running(drain_seconds=60) as service:
        client = service.idle_client()
        service.stop(signal.SIGINT)
        assert service.server.servers[0].is_serving()
        client.sendall(GET)
        assert is_last(client)
        service.until_it_does_not_listen()


def test_a_second_ctrl_c_ends_all_waiting() -> None:
    with running(drain_seconds=60) as service:
        idle, busy = service.idle_client(), service.busy_client(SLOW)
        service.stop()
        began = monotonic()
        service.server.handle_exit(signal.SIGINT, None)
        assert is_closed(idle)
        assert response_of(busy)[0] == 500
        assert monotonic() - began < GRACE_SECONDS


def test_a_request_that_does_not_end_is_cancelled_after_the_grace_period() -> None:
    with running() as service:
        client = service.busy_client(SLOW)
        began = monotonic()
        service.stop()
        status, headers, _ = response_of(client)
        assert (status, headers["connection"]) == (500, "close")
        assert GRACE_SECONDS - 0.5 < monotonic() - began < GRACE_SECONDS + 2


def test_such_a_request_gets_a_problem_from_the_service() -> None:
    with running(within=lambda app: Entrance(app, Rules(AllowAny(), 1_000, log=False), ())) as service:
        client, begun = service.busy_client(SLOW), service.busy_client(STREAM)
        service.stop()
        status, headers, content = response_of(client)
        assert (status, headers["connection"], headers["content-type"]) == (503, "close", "application/problem+json")
        assert int(headers["retry-after"]) > 0
        assert "content-security-policy" in headers
        assert b"/problems/unavailable" in content
        with pytest.raises((AssertionError, ConnectionError)):  # what has begun is cut off, and not ended as if whole
            response_of(begun)


def test_what_waits_ends_with_the_drain() -> None:
    with running(drain_seconds=0.5) as service:
        service.stop()
        began = monotonic()
        service.until_it_does_not_listen()
        (ended,) = service.application.ended_waits
        assert ended - began > 0.3


def test_what_waits_ends_at_once_after_ctrl_c() -> None:
    with running(drain_seconds=60) as service:
        client = service.busy_client(STREAM)
        service.stop(signal.SIGINT)
        until(lambda: len(service.application.ended_waits) == 1)
        service.application.may_end.set()
        assert not is_last(client)
        client.close()
        service.until_it_does_not_listen()


def test_a_server_that_does_not_drain_ends_what_waits_when_the_stop_is_requested() -> None:
    ended: list[None] = []
    shutdown = Shutdown(lambda: ended.append(None))
    shutdown.request()
    assert ended
    assert shutdown.is_closing.is_set()
