"""The asynchronous client has the calls of `Client`, from the same definitions."""

import asyncio
import inspect
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import FunctionType
from typing import TypeVar

import httpx
import pytest

from relevance_bayes.client import AsyncClient, Client, ClientError
from relevance_bayes.client.calls import call, listing
from relevance_bayes.client.http import Http
from relevance_bayes.client.responses import ApproximationJob
from tests.library.client.conftest import Handler, Service
from tests.library.client.test_batch_predictions import JOB
from tests.library.client.test_http import DATASET, one_after_the_other, refuse
from tests.library.client.test_jobs import given, stream

T = TypeVar("T")

MODEL = {
    "name": "m", "created_at": "2026-01-02T03:04:05Z", "task": "regression", "target": "y", "inputs": ["x"],
    "versions": 1, "latest": 1, "aliases": {}, "description": None, "tags": {},
}  # fmt: skip


def run(responses: Mapping[str, Handler], work: Callable[[AsyncClient], Awaitable[T]]) -> tuple[T, Service]:
    """The result of `work` with a client of a service with these responses."""
    service = Service(responses)

    async def respond(request: httpx.Request) -> httpx.Response:
        await request.aread()
        return service(request)

    async def connected() -> T:
        http = Http.to_async("http://service", api_key="secret", transport=httpx.MockTransport(respond))
        async with AsyncClient(http) as client:
            return await work(client)

    return asyncio.run(connected()), service


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("anyio.sleep", sleep)
    return pauses


def groups() -> list[type]:
    """The classes whose methods are calls."""
    http = Http.to("http://service", api_key=None)
    with Client(http) as client:
        names = [name for name, member in inspect.getmembers(type(client), lambda one: isinstance(one, property))]
        return [Client, *(type(getattr(client, name)) for name in names)]


def test_every_method_of_a_group_is_a_call_of_both_clients() -> None:
    found = 0
    for group in groups():
        for base in group.__mro__:
            for name, member in vars(base).items():
                if name.startswith("_") or not isinstance(member, call | listing | FunctionType):
                    continue
                is_overloaded = (group.__name__, name) in {
                    ("Client", "version"), ("Client", "import_document"), ("Client", "version_document"),
                    ("Trainings", "submit"), ("Trainings", "get"), ("Trainings", "wait"),
                }  # fmt: skip
                is_local = name == "handle" or (base.__name__, name) == ("Client", "close")
                assert isinstance(member, call | listing) or is_overloaded or is_local, f"{base.__name__}.{name}"
                assert member.__doc__, f"{base.__name__}.{name}"
                found += 1
    assert found > 80


def test_a_call_is_a_coroutine_of_one_client_and_a_result_of_the_other() -> None:
    with Client(Http.to("http://service", api_key=None)) as client:
        assert str(inspect.signature(client.model)) == "(name: str) -> relevance_bayes.records.models.Model"
        assert not inspect.iscoroutinefunction(client.model)
        assert client.model.__doc__ == "Return a model."

    async def made(client: AsyncClient) -> str:
        task = asyncio.create_task(client.model("m"))
        return (await task).name

    assert run({"GET /v1/models/m": lambda _: httpx.Response(200, json=MODEL)}, made)[0] == "m"


def test_lists_are_asynchronous_generators_that_load_pages_lazily() -> None:
    def page(request: httpx.Request) -> httpx.Response:
        after = request.url.params.get("after")
        item = MODEL | {"name": after or "first"}
        following = {None: "second", "second": "third"}.get(after)
        return httpx.Response(200, json={"items": [item], "has_more": following is not None, "after": following})

    async def names(client: AsyncClient) -> list[str]:
        listed = client.models(tags={"a": "b"})
        assert isinstance(listed, AsyncGenerator)
        return [model.name async for model in listed]

    async def first(client: AsyncClient) -> str:
        async for model in client.models():
            return model.name
        raise AssertionError

    found, service = run({"GET /v1/models": page}, names)
    assert found == ["first", "second", "third"]
    assert [request.url.params.get("tag") for request in service.requested] == ["a:b"] * 3
    one, service = run({"GET /v1/models": page}, first)
    assert (one, len(service.requested)) == ("first", 1)


def test_a_refusal_is_the_same_exception() -> None:
    async def submit(client: AsyncClient) -> None:
        with pytest.raises(ClientError, match="/target: Known are x and y") as caught:
            await client.trainings.submit({"dataset_id": "d", "target": "z"})
        assert (caught.value.problem.status, caught.value.problem.request_id) == (422, "r1")

    run({"POST /v1/training-jobs": refuse}, submit)


def test_what_makes_something_is_sent_again_under_its_key(pauses: list[float], tmp_path: Path) -> None:
    made = httpx.Response(201, json=DATASET)
    (file := tmp_path / "n.csv").write_text("x\n1\n")
    lost = (httpx.RemoteProtocolError, httpx.ConnectError, made)

    async def upload(client: AsyncClient) -> str:
        return (await client.upload(file)).id

    found, service = run({"POST /v1/datasets": one_after_the_other(*lost)}, upload)
    assert (found, pauses) == ("d", [0.5, 1.0])
    assert {request.content for request in service.requested} == {b"x\n1\n"}
    assert {request.headers["Content-Length"] for request in service.requested} == {"4"}
    assert len({request.headers["Idempotency-Key"] for request in service.requested}) == 1


def test_another_class_of_job_is_awaited_as_that_class() -> None:
    async def wait(client: AsyncClient) -> ApproximationJob:
        return await client.trainings.wait("j1", of=ApproximationJob)

    def job(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=JOB | {"task": "of a later release", "inputs": [], "ignored": []})

    with pytest.raises(ClientError, match="Expected a ApproximationJob, got a Job"):
        run({"GET /v1/training-jobs/j1": job}, wait)


def test_events_go_on_after_the_last_one_that_was_received(pauses: list[float]) -> None:
    responses = [stream(given(1, "queued"), given(2, "running")[:-9]), stream(given(2, "running"), given(3, "failed"))]

    async def numbers(client: AsyncClient) -> list[int]:
        return [event.number async for event in client.trainings.follow("j1")]

    found, service = run({"GET /v1/training-jobs/j1/events": lambda _: responses.pop(0)}, numbers)
    assert (found, pauses) == ([1, 2, 3], [0.25])
    assert [request.headers["Last-Event-ID"] for request in service.requested] == ["0", "1"]


def test_a_file_of_predictions_is_downloaded_and_resumed(tmp_path: Path) -> None:
    class BreaksOff(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncGenerator[bytes, None]:
            yield b"0123"
            raise httpx.ReadError("gone")

    def file(request: httpx.Request) -> httpx.Response:
        if "Range" not in request.headers:
            return httpx.Response(200, stream=BreaksOff())
        assert request.headers["Range"] == "bytes=4-"
        return httpx.Response(206, content=b"456789")

    async def download(client: AsyncClient) -> int:
        return await client.batch_predictions.download("one", tmp_path / "made.csv")

    path = "/v1/batch-predictions/one"
    responses = {f"GET {path}": lambda _: httpx.Response(200, json=JOB), f"GET {path}/result": file}
    assert run(responses, download)[0] == 10
    assert (tmp_path / "made.csv").read_bytes() == b"0123456789"


@asynccontextmanager
async def serving(
    respond: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[int]:
    """A server on the loopback at the port; at the end each connection is closed, and its transport with it."""
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        current = asyncio.current_task()
        assert current is not None
        connections.add(current)
        try:
            await respond(reader, writer)
        finally:
            writer.close()
            await writer.wait_closed()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]
        async with asyncio.timeout(10):
            await asyncio.gather(*connections)


def test_many_calls_at_once_share_a_bounded_number_of_connections() -> None:
    running, peak = 0, 0

    async def main() -> None:
        async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal running, peak
            running += 1
            peak = max(peak, running)
            try:
                while await reader.readuntil(b"\r\n\r\n"):
                    await asyncio.sleep(0.002)
                    body = json.dumps(MODEL).encode()
                    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                    writer.write(head.encode() + body)
            except asyncio.IncompleteReadError:
                pass
            finally:
                running -= 1

        async with (
            serving(respond) as port,
            AsyncClient(Http.to_async(f"http://127.0.0.1:{port}", api_key=None)) as client,
        ):
            models = await asyncio.gather(*(client.model("m") for _ in range(150)))
        assert {model.name for model in models} == {"m"}

    asyncio.run(main())
    assert 1 < peak <= 100


def test_a_cancelled_call_closes_its_connection_and_leaves_the_client_usable() -> None:
    async def main() -> None:
        ended = asyncio.Event()
        requests = 0

        async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal requests
            requests += 1
            await reader.readuntil(b"\r\n\r\n")
            if requests == 1:  # an event stream that never ends
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + given(1, "queued"))
                assert await reader.read() == b""
                ended.set()
            else:
                body = json.dumps(MODEL).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                await writer.drain()

        seen: list[int] = []
        async with (
            serving(respond) as port,
            AsyncClient(Http.to_async(f"http://127.0.0.1:{port}", api_key=None)) as client,
        ):

            async def follow() -> None:
                async for event in client.trainings.follow("j1"):
                    seen.append(event.number)

            task = asyncio.create_task(follow())
            async with asyncio.timeout(10):
                while not seen:
                    await asyncio.sleep(0.01)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await ended.wait()
                assert (await client.model("m")).name == "m"

    asyncio.run(main())


def test_the_blocking_client_works_within_a_running_event_loop() -> None:
    service = Service({"GET /v1/models/m": lambda _: httpx.Response(200, json=MODEL)})

    async def main() -> str:
        with Client(Http.to("http://service", api_key=None, transport=httpx.MockTransport(service))) as client:
            return client.model("m").name

    assert asyncio.run(main()) == "m"
