"""API processes that are stopped one after the other, under clients that keep their connections."""

import re
import shutil
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from time import monotonic

import grpc
import pytest

from app.inference.rpc.generated import open_inference_pb2 as messages
from tests.end_to_end.deployment import Api, Deployment, deployed
from tests.server.serving import response_of
from tests.waiting import until

N_CLIENTS = 24
PAUSE_SECONDS = 0.1
DRAIN_SECONDS = 2.5
GET = "GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n"

Address = tuple[str, int]


@pytest.fixture
def deployment(sqlite_template: Path, tmp_path: Path) -> Iterator[Deployment]:
    shutil.copyfile(sqlite_template, tmp_path / "relevance.db")
    with deployed(f"sqlite:///{tmp_path / 'relevance.db'}", tmp_path) as deployment:
        yield deployment


@dataclass
class Balancer:
    """Which processes are ready, by their probes."""

    processes: Sequence[Address] = ()
    ready: Sequence[Address] = ()

    def probe(self) -> None:
        self.ready = [address for address in self.processes if status_of(address, "/health/ready") == 200]

    def address(self) -> Address:
        """The last process that is ready."""
        until(lambda: bool(self.ready), seconds=30)
        return self.ready[-1]


@dataclass
class Client:
    """Sends one request after the other on a connection, and opens a new one when a response has `close`."""

    balancer: Balancer
    n_responses: int = 0
    n_closed: int = 0
    lost: list[str] = field(default_factory=list)

    def run(self, end: Event) -> None:
        while not end.is_set():
            try:
                self._use_connection(end)
            except (OSError, AssertionError) as error:
                self.lost.append(repr(error))

    def _use_connection(self, end: Event) -> None:
        with socket.create_connection(self.balancer.address(), timeout=20) as connection:
            while not end.is_set():
                connection.sendall(GET.format("/health/live").encode())
                status, headers, _ = response_of(connection)
                assert status == 200
                self.n_responses += 1
                if headers.get("connection") == "close":
                    self.n_closed += 1
                    return
                end.wait(PAUSE_SECONDS)


def status_of(address: Address, path: str) -> int | None:
    """The status of a response on a connection of its own, None where nobody listens."""
    try:
        with socket.create_connection(address, timeout=20) as connection:
            connection.sendall(GET.format(path).encode())
            return response_of(connection)[0]
    except ConnectionRefusedError:
        return None


def address_of(api: Api) -> Address:
    port = api.http.base_url.port
    assert port is not None
    return "127.0.0.1", port


@contextmanager
def clients_of(balancer: Balancer) -> Iterator[list[Client]]:
    """Clients in threads, and a balancer that probes ten times a second."""
    clients, end = [Client(balancer) for _ in range(N_CLIENTS)], Event()

    def probe() -> None:
        while not end.is_set():
            balancer.probe()
            end.wait(PAUSE_SECONDS)

    with ExitStack() as stack:
        stack.callback(end.set)
        for work in (probe, *(lambda client=client: client.run(end) for client in clients)):
            thread = Thread(target=work)
            thread.start()
            stack.callback(thread.join)
        stack.callback(end.set)
        yield clients


def everyone_goes_on(clients: Sequence[Client]) -> None:
    """Wait until each client has had three more responses."""
    before = [client.n_responses for client in clients]
    until(lambda: all(now.n_responses > was + 2 for now, was in zip(clients, before, strict=True)), seconds=30)


def stop(api: Api, *, while_it_drains: Callable[[], None]) -> float:
    """The seconds from SIGTERM to the end of the process."""
    began = monotonic()
    api.process.send_signal(signal.SIGTERM)
    while_it_drains()
    assert api.process.wait(30) == 0
    return monotonic() - began


def test_no_request_is_lost_while_two_processes_are_replaced_one_by_one(deployment: Deployment) -> None:
    settings = {"RELEVANCE_DRAIN_SECONDS": str(DRAIN_SECONDS), "RELEVANCE_LOG_REQUESTS": "0"}
    first = deployment.api(RELEVANCE_GRPC_PORT="0", **settings)
    assert first.process.stdout is not None
    rpc = next(found[1] for line in first.process.stdout if (found := re.match(r"  gRPC +(\S+)\n", line)))
    balancer = Balancer([address_of(first)])
    with clients_of(balancer) as clients:
        everyone_goes_on(clients)
        second = deployment.api(**settings)
        balancer.processes = [address_of(second), address_of(first)]

        def probes_report_the_stop() -> None:
            until(lambda: status_of(address_of(first), "/health/ready") == 503, seconds=1.5)
            assert status_of(address_of(first), "/health/live") == 200
            assert is_ready(rpc) is False
            everyone_goes_on(clients)

        assert stop(first, while_it_drains=probes_report_the_stop) > DRAIN_SECONDS
        third = deployment.api(**settings)
        balancer.processes = [address_of(second), address_of(third)]
        assert stop(second, while_it_drains=lambda: everyone_goes_on(clients)) > DRAIN_SECONDS
        everyone_goes_on(clients)
    assert [client.lost for client in clients if client.lost] == []
    assert all(client.n_closed >= 1 for client in clients)


def is_ready(address: str) -> bool:
    """The metadata that the process returns over gRPC."""
    with grpc.insecure_channel(address) as channel:
        call = channel.unary_unary(
            "/inference.GRPCInferenceService/ServerReady",
            request_serializer=messages.ServerReadyRequest.SerializeToString,
            response_deserializer=messages.ServerReadyResponse.FromString,
        )
        response: messages.ServerReadyResponse = call(messages.ServerReadyRequest(), timeout=10)
        return response.ready
