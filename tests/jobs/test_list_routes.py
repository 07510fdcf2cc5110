"""Jobs of all kinds in one list, and their changes in one stream, over both databases."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Timer
from typing import Final
from uuid import UUID

import pytest
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.errors import UnavailableError
from app.identity import BUILT_IN_OWNER as OWNER
from app.jobs import routes, waiter
from app.jobs.records import JobChanges, JobFilter, Position, changes_id
from app.jobs.repository import JobRepository, renew_epochs
from app.jobs.service import JobService
from app.jobs.statistics_repository import JobStatisticsRepository
from app.jobs.waiter import JobWatcher
from app.main import make_application
from relevance_bayes.client.jobs import Message, messages
from tests import samples
from tests.applications import LIMITS, StoredParts
from tests.jobs.test_event_routes import Reader, eventually, on_one_database
from tests.problems import assert_problem

STREAM: Final = {"Accept": "text/event-stream"}


@pytest.fixture
def app(live_parts: StoredParts) -> Starlette:
    return make_application(live_parts, LIMITS)


@pytest.fixture
def client(app: Starlette) -> Iterator[TestClient]:
    with TestClient(app, base_url="http://localhost") as client:
        yield client


def progress(parts: StoredParts, job_id: UUID) -> None:
    with parts.transaction() as tx:
        assert JobRepository(tx).progress(job_id, 1, samples.PROGRESS)


def fail(parts: StoredParts, job_id: UUID) -> None:
    with parts.transaction() as tx:
        assert JobRepository(tx).fail(job_id, 1, samples.PROBLEM)


@pytest.fixture
def three(live_parts: StoredParts) -> list[UUID]:
    """A queued, a running and a failed job, whose changes have the numbers 1 to 6."""
    queued = samples.queued_job(live_parts.transaction, owner=OWNER)
    running = samples.running_job(live_parts.transaction, owner=OWNER)
    failed = samples.running_job(live_parts.transaction, owner=OWNER)
    fail(live_parts, failed)
    samples.running_job(live_parts.transaction, owner="another")
    return [queued, running, failed]


def number(message: Message) -> int:
    return Position.parse(message.id).number


def id_of(client: TestClient, change: int) -> str:
    """Return the id of a change with a number in the current epoch."""
    return str(replace(Position.parse(client.get("/v1/jobs").json()["last_change"]), number=change))


def is_at(reader: Reader, change: int) -> bool:
    return any(chunk.endswith(f"-{change}\n\n".encode()) for chunk in reader.chunks)


def received(parts: StoredParts, client: TestClient, path: str, last_id: str | None = None) -> list[Message]:
    """Return the messages that a stream has until the process shuts down, in half a second."""
    timer = Timer(0.5, parts.watcher.stop)
    timer.start()
    headers = STREAM if last_id is None else {**STREAM, "Last-Event-ID": last_id}
    response = client.get(path, headers=headers)
    assert response.status_code == 200
    return list(messages([response.content]))


def test_the_list_has_jobs_newest_first_with_counts_of_the_owner_alone(client: TestClient, three: list[UUID]) -> None:
    page = client.get("/v1/jobs?counts=true").json()
    assert [item["id"] for item in page["items"]] == [str(job_id) for job_id in reversed(three)]
    assert page["counts"] == {"queued": 1, "running": 1, "succeeded": 0, "failed": 1, "cancelled": 0}
    assert (page["has_more"], page["after"]) == (False, None)
    assert Position.parse(page["last_change"]).number == 6
    for item in page["items"]:
        job = client.get(item["path"]).json()
        assert item.pop("kind") == "training"
        assert item.pop("path") == f"/v1/training-jobs/{job['id']}"
        assert {member: job[member] for member in item} == item


def test_pages_and_filters_select_and_counts_disregard_the_state_alone(client: TestClient, three: list[UUID]) -> None:
    first = client.get("/v1/jobs?limit=2").json()
    second = client.get("/v1/jobs", params={"limit": 2, "after": first["after"]}).json()
    assert [item["id"] for item in first["items"] + second["items"]] == [str(job_id) for job_id in reversed(three)]
    oldest = client.get("/v1/jobs?order=oldest").json()
    assert [item["id"] for item in oldest["items"]] == [str(job_id) for job_id in three]
    failed = client.get("/v1/jobs?state=failed&kind=training&counts=true").json()
    assert [item["id"] for item in failed["items"]] == [str(three[2])]
    assert failed["counts"]["running"] == 1
    evaluations = client.get("/v1/jobs?kind=evaluation&counts=true").json()
    assert (evaluations["items"], set(evaluations["counts"].values())) == ([], {0})
    of_one = client.get("/v1/jobs", params={"dataset_id": first["items"][0]["dataset_id"], "counts": "true"}).json()
    assert sum(of_one["counts"].values()) == len(of_one["items"]) == 1
    assert client.get("/v1/jobs?model=unknown").json()["items"] == []


@on_one_database
@pytest.mark.parametrize("query", ["kind=fit", "state=ended", "stat=failed", "after=x", "limit=0", "counts=some"])
def test_a_filter_that_does_not_exist_is_refused(client: TestClient, query: str) -> None:
    assert client.get(f"/v1/jobs?{query}").status_code == 422


def test_a_stream_goes_on_exactly_after_a_page_and_after_each_message(
    client: TestClient, live_parts: StoredParts, three: list[UUID]
) -> None:
    last = client.get("/v1/jobs").json()["last_change"]
    progress(live_parts, three[1])
    with live_parts.transaction() as tx:
        JobRepository(tx).request_cancel(OWNER, three[0])
    first, second = received(live_parts, client, f"/v1/jobs/events?after={last}")
    assert [(number(one), one.event) for one in (first, second)] == [(7, "job"), (8, "job")]
    listed = {item["id"]: item for item in client.get("/v1/jobs").json()["items"]}
    assert [json.loads(first.data), json.loads(second.data)] == [listed[str(three[1])], listed[str(three[0])]]


@on_one_database
def test_the_header_takes_precedence_over_the_parameter(
    client: TestClient, live_parts: StoredParts, three: list[UUID]
) -> None:
    assert [number(one) for one in received(live_parts, client, "/v1/jobs/events?after=0", id_of(client, 3))] == [6]
    assert [json.loads(one.data)["state"] for one in received(live_parts, client, "/v1/jobs/events?after=0")] == [
        "queued",
        "running",
        "failed",
    ]


def read_until(
    app: Starlette, parts: StoredParts, path: str, numbers: list[int], *changes: Callable[[], object]
) -> list[Message]:
    """Return the messages of a stream up to these numbers; each change is made once the one before was received."""

    async def read() -> list[Message]:
        reader = Reader(path)
        reader.taking.set()
        reading = asyncio.create_task(reader.read(app))
        for change in changes:
            await eventually(lambda: len(reader.chunks) > 1)
            seen = len(reader.chunks)
            await asyncio.to_thread(change)
            await eventually(lambda seen=seen: len(reader.chunks) > seen)  # type: ignore[misc]
        await eventually(lambda: reader.numbers == numbers)
        parts.watcher.stop()
        await reading
        return list(messages(reader.chunks))

    return asyncio.run(read())


def test_changes_of_all_jobs_come_as_they_happen_over_one_stream(
    app: Starlette, live_parts: StoredParts, three: list[UUID]
) -> None:
    found = read_until(
        app,
        live_parts,
        "/v1/jobs/events",
        [7, 8, 9],
        lambda: samples.queued_job(live_parts.transaction, owner=OWNER),
        lambda: progress(live_parts, three[1]),
        lambda: fail(live_parts, three[1]),
    )
    assert [json.loads(one.data)["state"] for one in found] == ["queued", "running", "failed"]


def test_a_stream_without_messages_has_a_position_and_is_filtered(
    client: TestClient, live_parts: StoredParts, three: list[UUID]
) -> None:
    timer = Timer(0.5, live_parts.watcher.stop)
    timer.start()
    progress(live_parts, three[1])
    content = client.get("/v1/jobs/events?after=0&kind=evaluation", headers=STREAM).text
    assert content.startswith(f"retry: 1000\n\n: keep-alive\nid: {id_of(client, 7)}\n\n")
    assert "data" not in content


@on_one_database
def test_a_number_of_another_database_is_refused(client: TestClient, three: list[UUID]) -> None:
    later = id_of(client, 7)
    detail = f"There is no change {later} in this database: get the list of jobs again."
    refused = client.get(f"/v1/jobs/events?after={later}", headers=STREAM)
    assert_problem(refused, "invalid-request", detail, [{"parameter": "after", "detail": detail}])
    refused = client.get("/v1/jobs/events?after=0", headers={**STREAM, "Last-Event-ID": later})
    assert_problem(refused, "invalid-request", detail, [{"header": "Last-Event-ID", "detail": detail}])


@on_one_database
@pytest.mark.parametrize("position", ["7", "-1", "00", "8c2fd02e6ab1f735-0", "8c2fd02e6ab1f735", "x-1", "8c2fd02e-1"])
def test_what_is_no_position_is_refused(client: TestClient, position: str) -> None:
    refused = client.get(f"/v1/jobs/events?after={position}", headers=STREAM)
    assert (refused.status_code, refused.json()["errors"][0]["parameter"]) == (422, "after")
    refused = client.get("/v1/jobs/events", headers={**STREAM, "Last-Event-ID": position})
    assert (refused.status_code, refused.json()["errors"][0]["header"]) == (422, "Last-Event-ID")


def test_a_page_has_counts_only_on_request(
    client: TestClient, three: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError

    assert sum(client.get("/v1/jobs?counts=true&limit=1").json()["counts"].values()) == len(three)
    monkeypatch.setattr(JobStatisticsRepository, "counts", refused)
    assert client.get("/v1/jobs").json()["counts"] is None


def test_an_open_stream_ends_when_a_restore_made_its_position_unknown(
    app: Starlette, engine: Engine, live_parts: StoredParts, three: list[UUID]
) -> None:
    async def read() -> None:
        reader = Reader("/v1/jobs/events")
        reader.taking.set()
        reading = asyncio.create_task(reader.read(app))
        await eventually(lambda: is_at(reader, 6))
        with engine.begin() as connection:
            renew_epochs(connection)
        await asyncio.to_thread(progress, live_parts, three[1])
        await asyncio.wait_for(reading, 10)
        assert reader.numbers == []
        assert not live_parts.watcher.is_stopped

    asyncio.run(read())


def test_a_keep_alive_has_the_position_after_changes_that_the_filter_leaves_out(
    app: Starlette, live_parts: StoredParts, three: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "KEEP_ALIVE_SECONDS", 0.1)

    async def read() -> None:
        reader = Reader("/v1/jobs/events?kind=evaluation")
        reader.taking.set()
        reading = asyncio.create_task(reader.read(app))
        await eventually(lambda: is_at(reader, 6))
        await asyncio.to_thread(progress, live_parts, three[1])
        await eventually(lambda: is_at(reader, 7))
        assert all(chunk.startswith(b": keep-alive\nid: ") for chunk in reader.chunks[1:] if chunk)
        live_parts.watcher.stop()
        await reading

    asyncio.run(read())


@on_one_database
def test_a_stream_that_is_woken_all_the_time_without_messages_is_kept_alive(
    app: Starlette, live_parts: StoredParts, three: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "KEEP_ALIVE_SECONDS", 1.0)

    async def read() -> None:
        reader = Reader("/v1/jobs/events?kind=evaluation")
        reader.taking.set()
        reading = asyncio.create_task(reader.read(app))
        await eventually(lambda: is_at(reader, 6))
        seen = len(reader.chunks)
        async with asyncio.timeout(10):
            while len(reader.chunks) == seen:
                await asyncio.to_thread(progress, live_parts, three[1])
        live_parts.watcher.stop()
        await reading

    asyncio.run(read())


@on_one_database
@pytest.mark.parametrize(
    ("accept", "status"), [("application/json", 406), ("*/*", 406), ("text/event-stream;q=0, */*", 406)]
)
def test_a_client_that_accepts_no_stream_is_refused(client: TestClient, accept: str, status: int) -> None:
    assert client.get("/v1/jobs/events", headers={"Accept": accept}).status_code == status


def test_many_changes_come_in_several_parts(
    app: Starlette, live_parts: StoredParts, three: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiter, "BATCH", 2)
    new = [samples.queued_job(live_parts.transaction, owner=OWNER) for _ in range(7)]
    numbers = [1, 3, 6, *range(7, 14)]
    found = read_until(app, live_parts, "/v1/jobs/events?after=0", numbers)
    assert [json.loads(one.data)["id"] for one in found] == [str(job_id) for job_id in three + new]


def test_a_database_that_is_away_ends_no_stream_and_loses_nothing(
    app: Starlette, live_parts: StoredParts, three: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "RETRY_SECONDS", 0.05)
    changes, looks, failed = JobService.changes, iter(range(1000)), list[int]()

    def now_and_then(self: JobService, owner: str, *, after: Position, limit: int, which: JobFilter) -> JobChanges:
        look = next(looks)
        if look in {1, 2, 4}:
            failed.append(look)
            raise UnavailableError("The database can't be reached.")
        return changes(self, owner, after=after, limit=limit, which=which)

    monkeypatch.setattr(JobService, "changes", now_and_then)
    position = replace(live_parts.jobs.last_change(OWNER), number=5)
    found = read_until(
        app, live_parts, f"/v1/jobs/events?after={position}", [6, 7], lambda: progress(live_parts, three[1])
    )
    assert [json.loads(one.data)["state"] for one in found] == ["failed", "running"]
    assert failed[:2] == [1, 2]


def test_another_process_streams_what_this_one_changes(
    engine: Engine, live_parts: StoredParts, three: list[UUID]
) -> None:
    """Two applications, each with its own listener, over one database."""
    other = StoredParts.over(engine)

    async def read() -> None:
        readers = [Reader("/v1/jobs/events") for _ in range(2)]
        for reader in readers:
            reader.taking.set()
        apps = [make_application(parts, LIMITS) for parts in (live_parts, other)]
        reading = [asyncio.create_task(reader.read(app)) for reader, app in zip(readers, apps, strict=True)]
        await eventually(lambda: all(is_at(reader, 6) for reader in readers))
        await asyncio.to_thread(progress, live_parts, three[1])
        await eventually(lambda: all(reader.numbers == [7] for reader in readers))
        for parts in (live_parts, other):
            parts.watcher.stop()
        await asyncio.gather(*reading)

    try:
        asyncio.run(read())
    finally:
        other.watcher.close()


@on_one_database
def test_streams_at_one_position_share_a_query(
    app: Starlette, live_parts: StoredParts, three: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Position] = []
    changes = JobService.changes

    def counted(self: JobService, owner: str, *, after: Position, limit: int, which: JobFilter) -> JobChanges:
        calls.append(after)
        return changes(self, owner, after=after, limit=limit, which=which)

    monkeypatch.setattr(JobService, "changes", counted)

    async def read() -> None:
        readers = [Reader("/v1/jobs/events") for _ in range(50)]
        for reader in readers:
            reader.taking.set()
        reading = [asyncio.create_task(reader.read(app)) for reader in readers]
        await eventually(lambda: all(is_at(reader, 6) for reader in readers))
        calls.clear()
        await asyncio.to_thread(progress, live_parts, three[1])
        await eventually(lambda: all(reader.numbers == [7] for reader in readers))
        assert len(calls) < 25
        live_parts.watcher.stop()
        await asyncio.gather(*reading)

    asyncio.run(read())


@on_one_database
def test_a_client_that_disconnects_is_watched_for_no_more(app: Starlette, live_parts: StoredParts) -> None:
    watched = _watched(live_parts.watcher)

    async def read() -> None:
        reader = Reader("/v1/jobs/events")
        reading = asyncio.create_task(reader.read(app))
        await eventually(lambda: changes_id(OWNER) in watched)
        reader.leaving.set()
        await eventually(lambda: changes_id(OWNER) not in watched)
        await reading

    asyncio.run(read())


def _watched(watcher: JobWatcher) -> dict[UUID, object]:
    found: dict[UUID, object] = vars(watcher)["_waiting"]
    return found
