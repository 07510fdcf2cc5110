"""A job's events as a stream: its form, where it begins, how it goes on and ends; over both databases."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Timer
from typing import Final
from uuid import UUID, uuid4

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.types import Message

from app.errors import RateLimitError, UnavailableError
from app.identity import BUILT_IN_OWNER as OWNER
from app.jobs import routes
from app.jobs import waiter as job_waiter
from app.jobs.records import Position
from app.jobs.repository import JobRepository
from app.jobs.service import History, JobService
from app.jobs.waiter import WaitingRequests
from app.main import make_application
from relevance_bayes.client.jobs import Message as Reported
from relevance_bayes.client.jobs import messages
from relevance_bayes.records.jobs import JobKind
from tests import samples
from tests.applications import LIMITS, StoredParts
from tests.problems import assert_problem

PATH = "/v1/training-jobs"
STREAM: Final = {"Accept": "text/event-stream"}

on_one_database = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
"""For what has nothing to do with the database."""


@pytest.fixture
def app(live_parts: StoredParts) -> Starlette:
    return make_application(live_parts, LIMITS)


@pytest.fixture
def client(app: Starlette) -> Iterator[TestClient]:
    with TestClient(app, base_url="http://localhost") as client:
        yield client


def progress(live_parts: StoredParts, job_id: UUID, times: int = 1) -> None:
    for _ in range(times):
        with live_parts.transaction() as tx:
            assert JobRepository(tx).progress(job_id, 1, samples.PROGRESS)


def fail(live_parts: StoredParts, job_id: UUID) -> None:
    with live_parts.transaction() as tx:
        assert JobRepository(tx).fail(job_id, 1, samples.PROBLEM)


@pytest.fixture
def running(live_parts: StoredParts) -> UUID:
    """A job with two events."""
    return samples.running_job(live_parts.transaction, owner=OWNER)


@pytest.fixture
def ended(live_parts: StoredParts, running: UUID) -> UUID:
    """A job with six events, the last of which is its end."""
    progress(live_parts, running, 3)
    fail(live_parts, running)
    return running


def reported(content: bytes) -> list[Reported]:
    return list(messages([content]))


def numbers(content: bytes) -> list[int]:
    return [Position.parse(message.id).number for message in reported(content)]


def test_a_stream_is_what_the_pages_have_with_numbers_as_ids(client: TestClient, ended: UUID) -> None:
    response = client.get(f"{PATH}/{ended}/events", headers=STREAM)
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert response.headers["Cache-Control"] == "no-store"
    assert response.text.startswith("retry: 1000\n\n")
    items = client.get(f"{PATH}/{ended}/events").json()["items"]
    assert [(message.id, message.event, json.loads(message.data)) for message in reported(response.content)] == [
        (str(item["number"]), item["kind"], item) for item in items
    ]
    assert [item["number"] for item in items] == [1, 2, 3, 4, 5, 6]


def test_it_goes_on_exactly_after_a_cut_at_any_event(client: TestClient, ended: UUID) -> None:
    for seen in range(6):
        response = client.get(f"{PATH}/{ended}/events", headers={**STREAM, "Last-Event-ID": str(seen)})
        assert numbers(response.content) == list(range(seen + 1, 7))


@on_one_database
@pytest.mark.parametrize("seen", [6, 7, 2**31 - 1])
def test_a_client_that_has_seen_the_end_gets_no_content(client: TestClient, ended: UUID, seen: int) -> None:
    response = client.get(f"{PATH}/{ended}/events", headers={**STREAM, "Last-Event-ID": str(seen)})
    assert (response.status_code, response.content) == (204, b"")


@on_one_database
def test_the_header_wins_over_the_parameter(client: TestClient, ended: UUID) -> None:
    path = f"{PATH}/{ended}/events?after=2&limit=1"
    assert numbers(client.get(path, headers=STREAM).content) == [3, 4, 5, 6]
    assert numbers(client.get(path, headers={**STREAM, "Last-Event-ID": "4"}).content) == [5, 6]


@on_one_database
@pytest.mark.parametrize(
    ("seen", "detail"),
    [
        ("x", "Should be a valid integer, unable to parse string as an integer."),
        ("-1", "Should be greater than or equal to 0."),
        ("1.5", "Should be a valid integer, unable to parse string as an integer."),
        (str(10**30), "Should be less than or equal to 2147483647."),
    ],
)
def test_an_id_that_is_none_is_refused(client: TestClient, running: UUID, seen: str, detail: str) -> None:
    response = client.get(f"{PATH}/{running}/events", headers={**STREAM, "Last-Event-ID": seen})
    errors = [{"header": "Last-Event-ID", "detail": detail}]
    assert_problem(response, "invalid-request", f"The header 'Last-Event-ID': {detail}", errors)


def test_an_after_beyond_all_numbers_is_refused(client: TestClient, running: UUID) -> None:
    assert client.get(f"{PATH}/{running}/events?after={10**30}").status_code == 422


@on_one_database
def test_a_job_that_is_not_there_is_no_stream(client: TestClient) -> None:
    job_id = uuid4()
    response = client.get(f"{PATH}/{job_id}/events", headers=STREAM)
    assert_problem(response, "not-found", f"There is no training job {job_id}.")


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("application/json, text/event-stream", "application/json"),
        ("application/json, text/event-stream;q=0.9", "application/json"),
        ("text/event-stream;q=0, */*", "application/json"),
        ("text/event-stream", "text/event-stream; charset=utf-8"),
        ("text/event-stream, */*;q=0.1", "text/event-stream; charset=utf-8"),
        ("application/json;q=0.5, TEXT/event-stream;q=0.8", "text/event-stream; charset=utf-8"),
        ("text/csv", "application/problem+json"),
        ("text/event-stream;q=0.0, application/json;q=0", "application/problem+json"),
    ],
)
@on_one_database
def test_a_stream_is_what_is_requested_above_json(
    client: TestClient, ended: UUID, accept: str, media_type: str
) -> None:
    assert client.get(f"{PATH}/{ended}/events", headers={"Accept": accept}).headers["Content-Type"] == media_type


def test_each_event_comes_as_it_happens_and_the_stream_ends_with_the_job(
    client: TestClient, live_parts: StoredParts, running: UUID
) -> None:
    later = [
        Timer(0.1, progress, (live_parts, running, 2)),
        Timer(0.4, progress, (live_parts, running)),
        Timer(0.7, fail, (live_parts, running)),
    ]
    for timer in later:
        timer.start()
    response = client.get(f"{PATH}/{running}/events", headers={**STREAM, "Last-Event-ID": "1"})
    assert numbers(response.content) == [2, 3, 4, 5, 6]


def test_who_is_ahead_of_a_job_waits_for_its_end(client: TestClient, live_parts: StoredParts, running: UUID) -> None:
    timer = Timer(0.2, fail, (live_parts, running))
    timer.start()
    response = client.get(f"{PATH}/{running}/events", headers={**STREAM, "Last-Event-ID": "100"})
    assert (response.status_code, numbers(response.content)) == (200, [])


def test_many_events_come_in_several_pieces(
    client: TestClient, live_parts: StoredParts, running: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_waiter, "BATCH", 3)
    progress(live_parts, running, 9)
    fail(live_parts, running)
    assert numbers(client.get(f"{PATH}/{running}/events", headers=STREAM).content) == list(range(1, 13))


@on_one_database
def test_a_long_silence_is_broken_by_comments(
    client: TestClient, live_parts: StoredParts, running: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "KEEP_ALIVE_SECONDS", 0.05)
    timer = Timer(0.4, fail, (live_parts, running))
    timer.start()
    content = client.get(f"{PATH}/{running}/events", headers=STREAM).content
    assert content.count(b": keep-alive\nid: 2\n\n") >= 2
    assert numbers(content) == [1, 2, 3]


def test_a_database_that_goes_away_breaks_no_stream_and_repeats_nothing(
    client: TestClient, live_parts: StoredParts, running: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "RETRY_SECONDS", 0.05)
    history, looks = JobService.history, iter(range(100))

    def now_and_then(
        self: JobService, owner: str, job_id: UUID, *, limit: int, after: int, kind: JobKind | None
    ) -> History:
        if next(looks) in {1, 2, 4}:
            raise UnavailableError("The database can't be reached.")
        return history(self, owner, job_id, limit=limit, after=after, kind=kind)

    monkeypatch.setattr(JobService, "history", now_and_then)
    later = [Timer(0.4, progress, (live_parts, running)), Timer(0.8, fail, (live_parts, running))]
    for timer in later:
        timer.start()
    content = client.get(f"{PATH}/{running}/events", headers=STREAM).content
    assert numbers(content) == [1, 2, 3, 4]
    assert next(looks) > 5


def test_the_end_of_the_process_ends_streams_and_waits(
    client: TestClient, live_parts: StoredParts, running: UUID
) -> None:
    timer = Timer(0.3, live_parts.watcher.stop)
    timer.start()
    assert numbers(client.get(f"{PATH}/{running}/events", headers=STREAM).content) == [1, 2]
    assert client.get(f"{PATH}/{running}?wait=60").json()["state"] == "running"
    assert client.get(f"{PATH}/{running}/events?after=2&wait=60").json()["items"] == []


@on_one_database
def test_long_polls_and_streams_of_an_owner_are_bounded(live_parts: StoredParts, running: UUID) -> None:
    """Two of four connections may wait, of one owner one."""
    full = "1 long polls and event streams of this owner are open in this process, the maximum."
    with TestClient(
        make_application(live_parts, replace(LIMITS, max_connections=4)), base_url="http://localhost"
    ) as client:
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(client.get, f"{PATH}/{running}?wait=60")
            while not (live_parts.watcher._waiting or waiting.done()):
                time.sleep(0.01)
            for path, headers in (
                (f"{PATH}/{running}/events", STREAM),
                ("/v1/jobs/events", STREAM),
                (f"{PATH}/{running}?wait=60", {}),
                (f"{PATH}/{running}/events?after=2&wait=60", {}),
            ):
                response = client.get(path, headers=headers)
                assert_problem(response, "rate-limit-exceeded", full)
                assert response.headers["Retry-After"] == "10"
            assert client.get(f"{PATH}/{running}").json()["state"] == "running"
            assert client.get("/health/live").status_code == 200
            fail(live_parts, running)
            assert waiting.result(30).json()["state"] == "failed"
        assert client.get(f"{PATH}/{running}/events", headers=STREAM).status_code == 200


def test_those_of_all_owners_are_bounded_together() -> None:
    waiting = WaitingRequests(max_connections=8)
    with waiting.one_of("a"), waiting.one_of("a"), waiting.one_of("b"), waiting.one_of("c"):
        for owner, whose in (("a", "2 .* of this owner"), ("d", "4 .* of all owners")):
            with pytest.raises(RateLimitError, match=whose), waiting.one_of(owner):
                pass
    with waiting.one_of("d"):
        pass
    assert not waiting._counts


def test_a_wait_for_events_ends_with_the_first(client: TestClient, live_parts: StoredParts, running: UUID) -> None:
    timer = Timer(0.2, progress, (live_parts, running))
    timer.start()
    items = client.get(f"{PATH}/{running}/events?after=2&wait=60").json()["items"]
    assert [item["number"] for item in items] == [3]


@dataclass
class Reader:
    """A reader of a stream of an application in this process; `took` states whether to take more."""

    path: str
    chunks: list[bytes] = field(default_factory=list)
    taking: asyncio.Event = field(default_factory=asyncio.Event)
    leaving: asyncio.Event = field(default_factory=asyncio.Event)
    requested: bool = False

    async def read(self, app: Starlette) -> None:
        path, _, query = self.path.partition("?")
        scope = {
            "type": "http",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(b"host", b"localhost"), (b"accept", b"text/event-stream")],
            "asgi": {"version": "3.0", "spec_version": "2.3"},
        }
        await app(scope, self._receive, self._send)

    async def _receive(self) -> Message:
        if not self.requested:
            self.requested = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.leaving.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.body":
            self.chunks.append(message["body"])
            if self.chunks != [message["body"]]:  # the beginning is always taken
                await self.taking.wait()

    @property
    def numbers(self) -> list[int]:
        return numbers(b"".join(self.chunks))


async def eventually(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not happened():
            await asyncio.sleep(0.01)


@on_one_database
def test_a_slow_reader_holds_no_more_than_what_is_read_at_once(
    app: Starlette, live_parts: StoredParts, running: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_waiter, "BATCH", 10)
    progress(live_parts, running, 47)
    fail(live_parts, running)

    async def read() -> None:
        reader = Reader(f"{PATH}/{running}/events")
        reading = asyncio.create_task(reader.read(app))
        await eventually(lambda: bool(reader.numbers))
        await asyncio.sleep(0.3)
        assert reader.numbers == list(range(1, 11))
        reader.taking.set()
        await reading
        assert reader.numbers == list(range(1, 51))

    asyncio.run(read())


@on_one_database
def test_a_reader_who_leaves_is_waited_for_by_nobody(app: Starlette, live_parts: StoredParts, running: UUID) -> None:
    watched: list[UUID] = []
    given_back: list[UUID] = []
    watching = live_parts.watcher.watching

    class Counted:
        def __init__(self, job_id: UUID, wake: Callable[[], None]) -> None:
            self.job_id, self.context = job_id, watching(job_id, wake)

        def __enter__(self) -> None:
            watched.append(self.job_id)
            self.context.__enter__()

        def __exit__(self, *raised: object) -> None:
            given_back.append(self.job_id)
            self.context.__exit__(None, None, None)

    live_parts.watcher.watching = Counted  # type: ignore[assignment,method-assign]

    async def read() -> None:
        waits, sends = Reader(f"{PATH}/{running}/events"), Reader(f"{PATH}/{running}/events")
        waits.taking.set()  # the other one is left while something is being sent to it
        tasks = [asyncio.create_task(reader.read(app)) for reader in (waits, sends)]
        await eventually(lambda: bool(waits.numbers and sends.numbers))
        for reader in (waits, sends):
            reader.leaving.set()
        await asyncio.gather(*tasks)

    asyncio.run(read())
    assert len(watched) == len(given_back) == 2


@on_one_database
def test_what_happens_between_the_first_look_and_the_wait_is_reported(
    app: Starlette, live_parts: StoredParts, running: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def too_late(job_id: UUID, _wake: Callable[[], None]) -> Iterator[None]:
        fail(live_parts, job_id)
        yield

    monkeypatch.setattr(live_parts.watcher, "watching", too_late)

    async def read() -> None:
        reader = Reader(f"{PATH}/{running}/events")
        reader.taking.set()
        async with asyncio.timeout(10):  # less than what breaks a silence
            await reader.read(app)
        assert reader.numbers == [1, 2, 3]

    asyncio.run(read())


def test_many_readers_of_a_job_share_their_looks(
    app: Starlette, live_parts: StoredParts, running: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, looks = JobService.history, []

    def counted(self: JobService, owner: str, job_id: UUID, *, limit: int, after: int, kind: JobKind | None) -> History:
        looks.append(after)
        return history(self, owner, job_id, limit=limit, after=after, kind=kind)

    async def read() -> None:
        readers = [Reader(f"{PATH}/{running}/events") for _ in range(100)]
        for reader in readers:
            reader.taking.set()
        tasks = [asyncio.create_task(reader.read(app)) for reader in readers]
        await eventually(lambda: all(reader.numbers == [1, 2] for reader in readers))
        await asyncio.sleep(0.5)
        monkeypatch.setattr(JobService, "history", counted)
        await asyncio.to_thread(progress, live_parts, running)
        await eventually(lambda: all(reader.numbers == [1, 2, 3] for reader in readers))
        await asyncio.to_thread(fail, live_parts, running)
        await asyncio.gather(*tasks)
        assert all(reader.numbers == [1, 2, 3, 4] for reader in readers)

    asyncio.run(read())
    assert len(looks) < 100, f"{len(looks)} looks at two events by a hundred readers"
