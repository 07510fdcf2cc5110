"""Work in a thread ends when the client that it is for has left."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import pytest
from anyio import CapacityLimiter
from starlette.types import Message, Scope

from app.datasets.tables import DatasetRow
from app.errors import ClientLeftError
from app.http.disconnection import run_for_client
from app.main import make_application
from relevance_bayes.tasks.cancellation import Cancellation, WorkCancelledError, check_cancelled
from tests.applications import LIMITS, SmallParts
from tests.waiting import until

MAX_SECONDS = 20.0


@dataclass
class Work:
    """Work of many small steps; `ended` once it has come to an end, `steps` as many as were done."""

    begun: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    steps: int = 0

    def do(self) -> int:
        self.begun.set()
        try:
            end = time.monotonic() + MAX_SECONDS
            while time.monotonic() < end:
                self.steps += 1
                check_cancelled()
                time.sleep(0.001)
            return self.steps
        finally:
            self.ended.set()


def leaving_after(begun: threading.Event) -> Callable[[], Awaitable[Message]]:
    async def receive() -> Message:
        while not begun.is_set():
            await asyncio.sleep(0.001)
        return {"type": "http.disconnect"}

    return receive


async def staying() -> Message:
    await asyncio.sleep(MAX_SECONDS)
    return {"type": "http.disconnect"}


def test_work_for_a_client_that_leaves_ends() -> None:
    work = Work()
    with pytest.raises(ClientLeftError):
        asyncio.run(run_for_client(leaving_after(work.begun), work.do))
    assert work.ended.wait(1.0)


def test_work_for_a_client_that_stays_is_done() -> None:
    assert asyncio.run(run_for_client(staying, lambda number: number + 1, 2)) == 3


def test_an_error_of_the_work_is_raised() -> None:
    def fail() -> None:
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        asyncio.run(run_for_client(staying, fail))


def test_work_that_waits_for_its_turn_is_not_begun_when_its_client_leaves() -> None:
    async def run(first: Work, second: Work) -> None:
        limiter = CapacityLimiter(1)
        running = asyncio.ensure_future(run_for_client(staying, first.do, limiter=limiter))
        while not first.begun.is_set():
            await asyncio.sleep(0.001)
        with pytest.raises(ClientLeftError):
            await run_for_client(leaving_after(first.begun), second.do, limiter=limiter)
        running.cancel()
        await asyncio.wait({running})

    first, second = Work(), Work()
    asyncio.run(run(first, second))
    assert not second.begun.is_set()


@pytest.mark.parametrize("receive", [staying, None])
def test_work_ends_when_the_server_cancels_the_request(receive: Callable[[], Awaitable[Message]] | None) -> None:
    async def run() -> None:
        task = asyncio.ensure_future(run_for_client(receive, work.do))
        while not work.begun.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    work = Work()
    asyncio.run(run())
    assert work.ended.wait(1.0)


def test_a_check_outside_of_cancelled_work_does_nothing() -> None:
    check_cancelled()
    cancellation = Cancellation()
    assert cancellation.run(int, "3") == 3
    cancellation.cancel()
    with pytest.raises(WorkCancelledError):
        cancellation.run(int, "3")
    check_cancelled()


@dataclass
class Leaving:
    """The messages of a client that sends a whole body and leaves `seconds` later."""

    body: bytes
    seconds: float
    sent: list[Message] = field(default_factory=list)
    has_sent_body: bool = False

    async def receive(self) -> Message:
        if not self.has_sent_body:
            self.has_sent_body = True
            return {"type": "http.request", "body": self.body, "more_body": False}
        await asyncio.sleep(self.seconds)
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)


def posted(parts: SmallParts, path: str, content_type: bytes, client: Leaving) -> float:
    """The CPU seconds of a request whose client leaves."""
    limits = replace(LIMITS, max_body_bytes=2**25, max_upload_bytes=2**25, max_rows=10**7, max_prediction_rows=10**6)
    app = make_application(parts, limits)
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"localhost"), (b"content-type", content_type)],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "state": {},
    }
    began = time.process_time()
    asyncio.run(app(scope, client.receive, client.send))
    return time.process_time() - began


def table(rows: int) -> bytes:
    return b"\n".join([b"x,y"] + [b"%d,%d" % (row, row) for row in range(rows)])


def test_an_upload_ends_when_its_client_leaves(parts: SmallParts) -> None:
    stays, leaves = Leaving(table(600_000), MAX_SECONDS), Leaving(table(600_000), 0.02)
    path = "/v1/datasets"
    full = posted(parts, path, b"text/csv", stays)
    before = parts.stored.count(DatasetRow)
    part = posted(parts, path, b"text/csv", leaves)
    assert stays.sent[0]["status"] == 201
    assert leaves.sent[0]["status"] == 499
    assert part < 0.75 * full
    # The thread that stored the rows deletes them after the response.
    until(lambda: parts.stored.count(DatasetRow) == before)


@pytest.mark.thorough
def test_a_prediction_ends_when_its_client_leaves(parts: SmallParts) -> None:
    row = b'{"x":1.5,"colour":"red"}'
    body = b"\n".join([row] * 300_000)
    path = "/v1/models/small/predict"
    stays, leaves = Leaving(body, MAX_SECONDS), Leaving(body, 0.02)
    full, part = (posted(parts, f"{path}", b"application/x-ndjson; v=1", client) for client in (stays, leaves))
    assert stays.sent[0]["status"] == 200
    assert leaves.sent[0]["status"] == 499
    assert part < 0.75 * full
