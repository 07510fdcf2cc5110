"""Whatever becomes of the API or of the connection, a keyed submit is one job."""

import json
import shutil
import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from select import select
from threading import Event
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import httpx2
import pytest
from sqlalchemy import text

from app.database.engine import make_engine
from tests.conftest import DATABASES, TEMPLATE
from tests.end_to_end.deployment import Api, deployed
from tests.postgres import Server

SUBMITS = 90
COLUMNS = {"columns": {"x": [1.0, 2.0, 3.5, 4.0, 5.5], "y": [0.5, 1.1, 2.3, 2.9, 4.1]}}


@dataclass
class Requested:
    """Submits of one small table of the test's own, each under its key."""

    api: Api
    dataset_id: str

    @classmethod
    def of(cls, api: Api) -> "Requested":
        return cls(api, api.http.post("/v1/datasets", json=COLUMNS).json()["id"])

    def body(self, number: int) -> bytes:
        return json.dumps({"dataset_id": self.dataset_id, "target": "y", "seed": number}).encode()

    def key(self, number: int) -> str:
        return f"{self.dataset_id}/{number}"

    def send(self, number: int) -> httpx2.Response:
        headers = {"Content-Type": "application/json", "Idempotency-Key": self.key(number)}
        return self.api.http.post("/v1/training-jobs", content=self.body(number), headers=headers)

    def assert_each_is_one_job(self, responses: Sequence[httpx2.Response]) -> None:
        """By what was answered, by the jobs, and by the engine's entries."""
        assert {response.status_code for response in responses} == {202}
        ids = {UUID(response.json()["id"]) for response in responses}
        assert len(ids) == len(responses)
        engine = make_engine(self.api.database_url)
        entries = "dbos.workflow_status" if engine.dialect.name == "postgresql" else "workflow_status"
        with engine.connect() as connection:
            jobs = connection.execute(text("SELECT id, dataset_id FROM jobs")).all()
            queued = connection.execute(text(f"SELECT workflow_uuid FROM {entries}")).scalars().all()
        engine.dispose()
        assert sorted(UUID(str(job)) for job, dataset in jobs if UUID(str(dataset)) == UUID(self.dataset_id)) == sorted(
            ids
        )
        assert sorted(map(UUID, queued)) == sorted(UUID(str(job)) for job, _ in jobs)


@dataclass
class Aftermath:
    """An API was killed while it was `requested`, after so many submits were `succeeded`; another one is there now."""

    api: Api
    requested: Requested
    succeeded: int


@pytest.fixture(scope="module", params=DATABASES)
def aftermath(
    request: pytest.FixtureRequest, sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Aftermath]:
    """One for all tests of a database: a process takes its time to start."""
    folder = tmp_path_factory.mktemp("aftermath")
    if request.param == "sqlite":
        url = f"sqlite:///{shutil.copyfile(sqlite_template, folder / 'relevance.db')}"
    else:
        server: Server = request.getfixturevalue("postgres_server")
        name = f"test_{uuid4().hex}"
        server.create(name, TEMPLATE)
        url = server.url(name).render_as_string(hide_password=False)
    with deployed(url, folder) as deployment:
        first = deployment.api()
        requested = Requested.of(first)
        succeeded = _killed_half_way(requested)
        # It is not there any more to be stopped, as the others are.
        deployment.processes.remove(first.process)
        deployment.apis.remove(first)
        first.calls.http.close()
        first.http.close()
        second = deployment.api()
        yield Aftermath(second, Requested(second, requested.dataset_id), succeeded)


def _killed_half_way(requested: Requested) -> int:
    succeeded, half_way = list[int](), Event()

    def send(number: int) -> None:
        try:
            succeeded.append(requested.send(number).status_code)
        except httpx2.TransportError:
            return  # whether it was done nobody knows here
        if len(succeeded) >= SUBMITS // 2:
            half_way.set()

    with ThreadPoolExecutor(8) as clients:
        sent = [clients.submit(send, number) for number in range(SUBMITS)]
        assert half_way.wait(60)
        requested.api.process.kill()
        for one in sent:
            one.result(60)
    requested.api.process.communicate()
    return len(succeeded)


def test_an_api_that_is_killed_among_90_keyed_submits_makes_90_jobs(aftermath: Aftermath) -> None:
    assert SUBMITS // 2 <= aftermath.succeeded < SUBMITS
    again = [aftermath.requested.send(number) for number in range(SUBMITS)]
    aftermath.requested.assert_each_is_one_job(again)
    replayed = sum("Idempotent-Replayed" in response.headers for response in again)
    assert aftermath.succeeded <= replayed < SUBMITS


def test_connections_that_are_cut_before_the_response_is_read_cost_no_second_job(aftermath: Aftermath) -> None:
    """Half of them at once, whether or not the request was received whole; half as soon as the answer has come."""
    requested, address = Requested.of(aftermath.api), urlsplit(str(aftermath.api.http.base_url))
    for number in range(SUBMITS):
        body = requested.body(number)
        head = (
            "POST /v1/training-jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Idempotency-Key: {requested.key(number)}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection((str(address.hostname), int(address.port or 0))) as cut:
            cut.sendall(head.encode() + body)
            if number % 2:
                assert select([cut], [], [], 30)[0]
    responses = [requested.send(number) for number in range(SUBMITS)]
    requested.assert_each_is_one_job(responses)
    assert all("Idempotent-Replayed" in response.headers for response in responses[1::2])


def test_200_submits_at_once_by_20_clients_are_200_jobs(aftermath: Aftermath) -> None:
    requested = Requested.of(aftermath.api)
    with ThreadPoolExecutor(20) as clients:
        responses = list(clients.map(requested.send, range(200), timeout=120))
    requested.assert_each_is_one_job(responses)


def test_submits_of_20_clients_under_one_key_at_once_are_one_job(aftermath: Aftermath) -> None:
    requested = Requested.of(aftermath.api)
    with ThreadPoolExecutor(20) as clients:
        responses = list(clients.map(requested.send, [7] * 20, timeout=60))
    assert len({response.content for response in responses}) == 1
    requested.assert_each_is_one_job(responses[:1])
