"""Long answers leave in pieces, each made once those before it have been taken."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest
from starlette.testclient import TestClient
from starlette.types import Message, Scope

from app.formats import WRITABLE_FORMATS
from app.formats.format import AssembledFormat
from app.identity import BUILT_IN_OWNER as OWNER
from app.main import make_application
from app.prediction import json_codec
from app.prediction import runner as prediction
from tests.applications import LIMITS, SmallParts
from tests.small_models import version_of_numbers
from tests.table_files import MEDIA_TYPES, FlatRow, read, written

LIMITS_OF_MANY = replace(LIMITS, max_prediction_rows=100, max_body_bytes=100_000)
ROWS: list[FlatRow] = [{"x": 0.1 * n, "a": n % 7 - 3.0, "b": 1.0 / (n + 1)} for n in range(50)]
PATH = "/v1/models/numbers/predict"
IN_PIECES = tuple(one.name for one in WRITABLE_FORMATS if not isinstance(one, AssembledFormat))


@pytest.fixture(autouse=True)
def model(parts: SmallParts) -> None:
    parts.stored.put_version(OWNER, version_of_numbers(), number=1)


@pytest.fixture
def client(parts: SmallParts) -> TestClient:
    return TestClient(make_application(parts, LIMITS_OF_MANY), base_url="http://localhost")


@pytest.fixture
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of two rows, each made alone, and no body so small that its answer is made in one go."""
    monkeypatch.setattr(prediction, "MAX_INLINE_BYTES", 10)
    monkeypatch.setattr(prediction, "MAX_QUICK_BYTES", 10)
    monkeypatch.setattr(prediction, "PIECES_AT_ONCE", 1)
    for module in (json_codec.__name__, "app.formats.media_types", "app.formats.arrow_writing"):
        monkeypatch.setattr(f"{module}.ROWS_AT_ONCE", 2)


def headers_of(body: str, response_format: str) -> dict[str, str]:
    return {"Content-Type": MEDIA_TYPES[body], "Accept": MEDIA_TYPES[response_format]}


@pytest.mark.parametrize("response_format", IN_PIECES)
@pytest.mark.parametrize("body", ["json", "csv"])
def test_a_response_in_pieces_is_the_one_in_one(
    client: TestClient, request: pytest.FixtureRequest, body: str, response_format: str
) -> None:
    headers = headers_of(body, response_format)
    full = client.post(PATH, content=written(body, ROWS), headers=headers)
    assert full.headers["Content-Length"] == str(len(full.content))
    request.getfixturevalue("short_pieces")
    pieces = client.post(PATH, content=written(body, ROWS), headers=headers)
    assert "Content-Length" not in pieces.headers
    assert pieces.headers["Content-Type"] == full.headers["Content-Type"]
    if response_format == "arrow":  # of other batches
        names = ("mean", "variance_total", "support")
        assert read(response_format, pieces.content, names) == read(response_format, full.content, names)
    else:
        assert pieces.content == full.content


@pytest.mark.usefixtures("short_pieces")
@pytest.mark.parametrize("response_format", IN_PIECES)
def test_what_is_refused_is_refused_before_the_first_piece(client: TestClient, response_format: str) -> None:
    rows: list[FlatRow] = [*ROWS, {"x": 1e300, "a": 0.0, "b": 0.0}]
    response = client.post(PATH, content=written("csv", rows), headers=headers_of("csv", response_format))
    assert response.status_code == 422
    assert response.json()["errors"][0]["row"] == len(ROWS)


def scope_of(response_format: str) -> Scope:
    reported = headers_of("json", response_format)
    return {
        "type": "http",
        "asgi": {"spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "path": PATH,
        "raw_path": PATH.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "headers": [
            (b"host", b"localhost"),
            *((name.lower().encode(), value.encode()) for name, value in reported.items()),
        ],
        "server": ("test", 80),
        "client": ("test", 1),
    }


class Reader:
    """A client that takes so many pieces of an answer and no more, and then stays or leaves."""

    def __init__(self, takes: int, *, leaves: bool) -> None:
        self.received = 0
        self.is_full = asyncio.Event()
        self._takes, self._leaves = takes, leaves
        self._messages: Iterator[Message] = iter(
            [{"type": "http.request", "body": written("json", ROWS), "more_body": False}]
        )

    async def receive(self) -> Message:
        for message in self._messages:
            return message
        await self.is_full.wait()
        if not self._leaves:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if not message.get("body"):
            return
        if self.received == self._takes:
            self.is_full.set()
            await asyncio.Event().wait()  # as a server does whose client does not read
        self.received += 1


async def conversation(parts: SmallParts, response_format: str, reader: Reader) -> None:
    """Broken off some time after the reader has taken all that it takes."""
    application = make_application(parts, LIMITS_OF_MANY)
    responding = asyncio.ensure_future(application(scope_of(response_format), reader.receive, reader.send))
    await asyncio.wait_for(reader.is_full.wait(), 30.0)
    await asyncio.wait([responding], timeout=0.1)
    responding.cancel()
    with suppress(asyncio.CancelledError):
        await responding


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The pieces that were made, but for the two by which it is known that an answer is long."""
    found: list[bytes] = []
    some = prediction._some

    def watched(pieces: Iterator[bytes]) -> bytes:
        piece = some(pieces)
        found.extend([piece] if piece else [])
        return piece

    monkeypatch.setattr(prediction, "_some", watched)
    return found


@pytest.mark.usefixtures("short_pieces")
@pytest.mark.parametrize("response_format", IN_PIECES)
def test_no_piece_is_made_before_those_before_it_are_taken(
    parts: SmallParts, made: list[bytes], response_format: str
) -> None:
    reader = Reader(5, leaves=False)
    asyncio.run(conversation(parts, response_format, reader))
    assert reader.received == 5
    assert len(made) == 4  # of six pieces the last waits to be taken, and two were made to begin with


@pytest.mark.usefixtures("short_pieces")
@pytest.mark.parametrize("response_format", IN_PIECES)
def test_a_client_that_leaves_ends_the_work_on_its_response(
    parts: SmallParts, made: list[bytes], response_format: str
) -> None:
    reader = Reader(3, leaves=True)
    application = make_application(parts, LIMITS_OF_MANY)
    asyncio.run(asyncio.wait_for(application(scope_of(response_format), reader.receive, reader.send), 30.0))
    assert (reader.received, len(made)) == (3, 2)
