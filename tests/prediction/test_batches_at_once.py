"""Many large predictions at once: few have their numbers in memory, and each has the response that it has alone."""

import asyncio
import json
import weakref
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import pytest
from starlette.types import Message, Scope

from app.http import bodies
from app.identity import BUILT_IN_OWNER as OWNER
from app.inference import tensor_codec, tensors
from app.main import make_application
from app.prediction import PredictRequest, ServedVersion, json_codec, predict
from app.prediction import runner as prediction
from app.prediction import runner as prediction_slots
from relevance_bayes.tasks.prediction import RowPredictions
from tests.applications import LIMITS, SmallParts
from tests.small_models import version_of_numbers

N_CLIENTS, N_ROWS = 16, 1_000
NAMES = ("x", "a", "b")
ROWS = [[0.001 * n, n % 7 - 3.0, 1.0 / (n + 1)] for n in range(N_ROWS)]
BODIES = {
    "/v1/models/numbers/predict": json.dumps({"rows": [dict(zip(NAMES, row, strict=True)) for row in ROWS]}).encode(),
    "/v2/models/numbers/infer": json.dumps(
        {"inputs": [{"name": "input", "shape": [N_ROWS, 3], "datatype": "FP64", "data": [*chain.from_iterable(ROWS)]}]}
    ).encode(),
}


@dataclass
class Client:
    """Sends a body in parts, and takes so many parts of the response (None: all)."""

    body: bytes
    takes: int | None = None
    received: list[bytes] = field(default_factory=list)
    is_full: asyncio.Event = field(default_factory=asyncio.Event)
    sent: int = 0

    async def receive(self) -> Message:
        if self.sent >= len(self.body):
            await asyncio.Event().wait()
        part = self.body[self.sent : self.sent + len(self.body) // 5 + 1]
        self.sent += len(part)
        return {"type": "http.request", "body": part, "more_body": self.sent < len(self.body)}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] == 200, message
            return
        if self.takes is not None and len(self.received) == self.takes:
            self.is_full.set()
            await asyncio.Event().wait()  # as a server does whose client does not read
        self.received.append(bytes(message["body"]))


class Application:
    """Predicts with a model of numbers, and counts what of it is in memory at a time."""

    def __init__(self, parts: SmallParts, spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        parts.stored.put_version(OWNER, version_of_numbers(), number=1)
        limits = replace(LIMITS, max_prediction_rows=N_ROWS, max_body_bytes=2**20, spool_directory=spool)
        self._app = make_application(parts, limits)
        self.runner: prediction.PredictionRunner = self._app.state.services[prediction.PredictionRunner]
        self.predictions: weakref.WeakSet[RowPredictions] = weakref.WeakSet()
        self.most_predictions = self.read = 0
        read = bodies.LargeBody.read

        def predicted(served: ServedVersion, request: PredictRequest) -> RowPredictions:
            found = predict(served, request)
            self.predictions.add(found)
            self.most_predictions = max(self.most_predictions, len(self.predictions))
            return found

        def read_body(body: bodies.LargeBody) -> bytes:
            self.read += 1
            return read(body)

        monkeypatch.setattr(prediction, "predict", predicted)
        monkeypatch.setattr(bodies.LargeBody, "read", read_body)

    async def respond(self, path: str, client: Client) -> None:
        scope: Scope = {
            "type": "http",
            "asgi": {"spec_version": "2.3"},
            "http_version": "1.1",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "scheme": "http",
            "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
            "server": ("test", 80),
            "client": ("test", 1),
        }
        await self._app(scope, client.receive, client.send)


@pytest.fixture
def application(parts: SmallParts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Application:
    """One to which these bodies are large, which has no memory for those that wait, and writes in short pieces."""
    for limit in ("MAX_INLINE_BYTES", "MAX_QUICK_BYTES"):
        monkeypatch.setattr(prediction, limit, 10)
    monkeypatch.setattr(tensor_codec, "MAX_JOINED_BYTES", 1_000)
    monkeypatch.setattr(tensors, "PIECE_VALUES", 100)
    monkeypatch.setattr(json_codec, "ROWS_AT_ONCE", 50)
    monkeypatch.setattr(bodies, "PIECE_BYTES", 1_000)
    made = Application(parts, tmp_path, monkeypatch)
    made.runner.bodies.max_bytes_in_memory = 0
    return made


@pytest.mark.parametrize("path", BODIES)
def test_of_many_batches_few_are_in_memory_at_a_time(application: Application, path: str) -> None:
    async def run() -> tuple[Client, list[Client]]:
        alone, together = Client(BODIES[path]), [Client(BODIES[path]) for _ in range(N_CLIENTS)]
        await application.respond(path, alone)
        await asyncio.gather(*(application.respond(path, client) for client in together))
        return alone, together

    alone, together = asyncio.run(run())
    assert application.read == 1 + N_CLIENTS
    assert 1 < application.most_predictions <= prediction_slots.MAX_SLOTS
    assert application.runner.bodies.bytes_in_memory == 0
    assert len(alone.received) > 5
    assert {b"".join(client.received) for client in together} == {b"".join(alone.received)}


def test_clients_that_do_not_read_delay_nobody(application: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction_slots, "SECONDS_FOR_CLIENT", 0.01)
    path = "/v1/models/numbers/predict"

    async def run() -> Client:
        slow = [Client(BODIES[path], takes=1) for _ in range(3 * prediction_slots.MAX_SLOTS)]
        responding = [asyncio.ensure_future(application.respond(path, client)) for client in slow]
        await asyncio.gather(*(asyncio.wait_for(client.is_full.wait(), 30.0) for client in slow))
        reads = Client(BODIES[path])
        await asyncio.wait_for(application.respond(path, reads), 30.0)
        for one in responding:
            one.cancel()
        await asyncio.wait(responding)
        return reads

    assert len(json.loads(b"".join(asyncio.run(run()).received))["predictions"]) == N_ROWS
