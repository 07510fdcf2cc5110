"""Whatever breaks between a job and those who watch it, each of them sees each event once."""

import asyncio
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from threading import Thread
from uuid import UUID

import httpx
import pytest
from sqlalchemy import text

from app.identity import BUILT_IN_OWNER
from app.jobs.repository import JobRepository
from app.services import ProcessParts, build
from app.settings import Settings
from relevance_bayes.client.http import Http
from tests import samples
from tests.end_to_end.deployment import Deployment, deployed
from tests.waiting import until
from tests.watching import Follower

READERS = 100
"""As many as an owner may have."""
LISTENING = "FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()"


@dataclass
class Place:
    """API processes over a database, and a job on it whose events the tests write."""

    deployment: Deployment
    parts: ProcessParts
    job_id: UUID

    @property
    def path(self) -> str:
        return f"/v1/training-jobs/{self.job_id}/events"

    def start(self, port: int = 0) -> str:
        """The URL of a new process, once it answers."""
        return str(self.deployment.api(RELEVANCE_PORT=str(port)).http.base_url)

    def kill(self, number: int) -> None:
        """End the process of that number without a chance to report it."""
        process = self.deployment.processes.pop(number)
        api = self.deployment.apis.pop(number)
        api.calls.http.close()
        api.http.close()
        process.kill()
        process.communicate()

    def progress(self, times: int = 1) -> None:
        for _ in range(times):
            with self.parts.base.transaction() as tx:
                assert JobRepository(tx).progress(self.job_id, 1, samples.PROGRESS)

    def end_the_listening(self) -> None:
        """End the connections over which processes hear of events; on SQLite there are none."""
        with self.parts.base.engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                ended = connection.execute(text(f"SELECT pg_terminate_backend(pid) {LISTENING}")).all()
                assert ended == [(True,)]

    def fail(self) -> None:
        with self.parts.base.transaction() as tx:
            assert JobRepository(tx).fail(self.job_id, 1, samples.PROBLEM)


@pytest.fixture
def place(database_url: str, tmp_path: Path) -> Iterator[Place]:
    """A running job with two events."""
    parts = build(Settings(database_url=database_url))
    with deployed(database_url, tmp_path) as deployment:
        yield Place(deployment, parts, samples.running_job(parts.base.transaction, owner=BUILT_IN_OWNER))
    parts.close()


def test_events_come_soon_and_come_when_the_connection_that_listens_is_ended(place: Place, database: str) -> None:
    reader = Follower(Http.to(place.start(), api_key=None), place.path)
    reader.sees(2)
    written: list[float] = []
    for number in range(3, 18):
        place.progress()
        written.append(time.monotonic())
        reader.sees(number)
        time.sleep(0.03)
    latency = median(seen - wrote for seen, wrote in zip(reader.moments[2:], written, strict=True))
    assert latency < {"sqlite": 0.5, "postgresql": 0.05}[database]
    place.end_the_listening()
    place.progress()
    reader.sees(18)
    place.fail()
    assert reader.end() == list(range(1, 20))


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_streams_end_with_the_process_under_whatever_server(place: Place) -> None:
    port = free_port()
    server = (sys.executable, "-m", "uvicorn", "--factory", "app.main:create_app", "--port", str(port))
    with subprocess.Popen(server, env=place.deployment.environment(), stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: responses(port), seconds=60)
            reader = Follower(Http.to(f"http://127.0.0.1:{port}", api_key=None), place.path)
            reader.sees(2)
            process.terminate()
            process.wait(10)  # it would wait for the stream, and that for the job
        finally:
            process.kill()
    url = place.start(port)
    place.fail()
    assert url.startswith(f"http://127.0.0.1:{port}")
    assert reader.end() == [1, 2, 3]


class Either(httpx.BaseTransport):
    """A balancer before several processes: the first that takes a connection answers."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = [httpx.URL(url) for url in urls]
        self._transport = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        for url in self._urls:
            request.url = request.url.copy_with(host=url.host, port=url.port)
            try:
                return self._transport.handle_request(request)
            except httpx.ConnectError:
                continue
        raise httpx.ConnectError("none of them answers")

    def close(self) -> None:
        self._transport.close()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_reader_goes_on_at_another_process_when_its_own_is_killed(place: Place) -> None:
    urls = [place.start(), place.start()]
    reader = Follower(Http.to("http://localhost", api_key=None, transport=Either(urls)), place.path)
    reader.sees(2)
    place.progress(3)
    reader.sees(4)
    writer = Thread(target=place.progress, args=(40,))
    writer.start()
    reader.sees(6)
    place.kill(0)
    writer.join()
    place.progress()
    reader.sees(46)
    place.fail()
    assert reader.end() == list(range(1, 48))


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_hundred_readers_see_each_event_once_over_a_restart(place: Place) -> None:
    port = free_port()
    place.start(port)

    async def restart() -> None:
        api = place.deployment.processes[0]
        api.send_signal(signal.SIGTERM)
        await asyncio.to_thread(api.wait)
        assert "shutdown exceeded" not in place.deployment.given()  # the streams ended by themselves
        await asyncio.to_thread(place.progress, 5)
        await asyncio.to_thread(place.start, port)

    async def watch() -> list[Reader]:
        async with asyncio.TaskGroup() as reading:
            readers = [Reader(port, place.path) for _ in range(READERS)]
            for reader in readers:
                reading.create_task(reader.read())
            await all_have_seen(readers, 2)
            await asyncio.to_thread(place.progress, 3)
            await all_have_seen(readers, 5)
            await restart()
            await asyncio.to_thread(place.progress, 3)
            await all_have_seen(readers, 13)
            await asyncio.to_thread(place.fail)
        return readers

    readers = asyncio.run(watch())
    assert len(readers) == READERS
    assert all(reader.numbers == list(range(1, 15)) for reader in readers)
    assert all(reader.statuses == [200, 200, 204] for reader in readers)


@dataclass
class Reader:
    """Reads as a browser's EventSource does: repeats its request with the last id after each end, until it gets 204."""

    port: int
    path: str
    numbers: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    async def read(self) -> None:
        while 204 not in self.statuses:
            with suppress(ConnectionError):
                await self._read_one()
            await asyncio.sleep(0.2)

    async def _read_one(self) -> None:
        incoming, outgoing = await asyncio.open_connection("127.0.0.1", self.port)
        seen = f"Last-Event-ID: {self.numbers[-1]}\r\n" if self.numbers else ""
        about = f"Host: localhost\r\nAccept: text/event-stream\r\nConnection: close\r\n{seen}\r\n"
        outgoing.write(f"GET {self.path} HTTP/1.1\r\n{about}".encode())
        try:
            if first := await incoming.readline():
                self.statuses.append(int(first.split()[1]))
            async for line in incoming:
                if line.startswith(b"id: "):  # the last line of an event
                    self.numbers.append(int(line[4:]))
        finally:
            outgoing.close()


async def all_have_seen(readers: Sequence[Reader], number: int) -> None:
    async with asyncio.timeout(30):
        while not all(number in reader.numbers for reader in readers):
            await asyncio.sleep(0.05)


def responses(port: int) -> bool:
    """Return whether a server accepts connections there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
