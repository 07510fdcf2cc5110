"""Predictions while the database is away, under load, on both databases; and everything else once it is back."""

import fcntl
import json
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import grpc
import httpx2
import numpy as np
import pytest

from app.inference.rpc.generated import open_inference_pb2 as messages
from app.maintenance.administration import migrate
from app.settings import Settings
from relevance_bayes.core.priors import Independent
from tests import postgres
from tests.end_to_end.deployment import Api, deployed
from tests.served import add_version
from tests.tasks.supervised.test_one_row import version_of_numbers
from tests.waiting import until

RESTORED_WITHIN = 5.0
STALE_SECONDS = 4.0
FIRST_LOCK, LOCKS = 120, 8
"""Where SQLite's connections lock the shared memory of a write-ahead log (https://sqlite.org/walformat.html, 2.2.3)."""

ROWS = {"rows": [dict(zip("abcde", np.linspace(-1, 1, 5).tolist(), strict=True))]}


@dataclass
class Database:
    """A database that can be taken away from everybody, and given back."""

    url: str
    take_away: Callable[[], object]
    give_back: Callable[[], object]
    refuses_within: float
    """Seconds after which the first requests that need it are refused."""


@contextmanager
def locked_file(path: Path) -> Iterator[Database]:
    """SQLite, which is away while another program locks it: there is no server to kill."""
    with ExitStack() as stack:
        held = ExitStack()
        stack.enter_context(held)

        def lock() -> None:
            file = held.enter_context(Path(f"{path}-shm").open("r+b"))
            fcntl.lockf(file, fcntl.LOCK_EX, LOCKS, FIRST_LOCK)

        yield Database(f"sqlite:///{path}", lock, held.close, 15.0)


@contextmanager
def moved_file(path: Path) -> Iterator[Database]:
    """SQLite, whose file is moved."""
    moved = path.with_suffix(".moved")
    yield Database(f"sqlite:///{path}", lambda: path.rename(moved), lambda: moved.rename(path), 2.0)


@contextmanager
def server(*, freezes: bool) -> Iterator[Database]:
    """PostgreSQL, which is killed, or stands still: then it takes connections and statements, and answers nothing."""
    programs = postgres.programs()
    assert programs is not None, postgres.INSTALL
    with postgres.mortal(programs) as mortal:
        mortal.create("relevance")
        url = mortal.url("relevance").render_as_string(hide_password=False)
        migrate(Settings(database_url=url))
        if not freezes:
            yield Database(url, mortal.kill, mortal.start, 10.0)
            return
        try:
            yield Database(url, mortal.freeze, mortal.thaw, 10.0)
        finally:
            mortal.thaw()


WAYS = ("sqlite-locked", "sqlite-moved", "postgresql-killed", "postgresql-frozen")


def away(*ways: str) -> pytest.MarkDecorator:
    """Some ways in which a database is away; the others are for `make long`."""
    params = [pytest.param(way, marks=() if way in ways else pytest.mark.long) for way in WAYS]
    return pytest.mark.parametrize("database", params, indirect=True)


@pytest.fixture(params=WAYS)
def database(request: pytest.FixtureRequest, tmp_path: Path, sqlite_template: Path) -> Iterator[Database]:
    path = tmp_path / "relevance.db"
    shutil.copyfile(sqlite_template, path)
    makers = {
        "sqlite-locked": lambda: locked_file(path),
        "sqlite-moved": lambda: moved_file(path),
        "postgresql-killed": lambda: server(freezes=False),
        "postgresql-frozen": lambda: server(freezes=True),
    }
    with makers[request.param]() as made:
        yield made


@dataclass
class Load:
    """Requests of a few threads, one after the other in each, until they are stopped."""

    api: Api
    rpc: str
    stopping: threading.Event = field(default_factory=threading.Event)
    failed: list[str] = field(default_factory=list)
    slowest: float = 0.0
    succeeded: int = 0

    def post(self, path: str, media_type: str, body: bytes) -> None:
        with httpx2.Client(base_url=self.api.http.base_url, timeout=60) as client:
            while not self.stopping.is_set():
                with self._timed():
                    response = client.post(path, content=body, headers={"Content-Type": media_type})
                if response.status_code != 200:
                    self.failed.append(f"{path}: {response.status_code} {response.text}")

    def probe(self) -> None:
        with httpx2.Client(base_url=self.api.http.base_url, timeout=60) as client:
            while not self.stopping.is_set():
                with self._timed():
                    response = client.get("/health/ready")
                if response.status_code != 200:
                    self.failed.append(f"/health/ready: {response.status_code} {response.text}")

    def call(self) -> None:
        with grpc.insecure_channel(self.rpc) as channel:
            while not self.stopping.is_set():
                try:
                    with self._timed():
                        infer(channel, "champion")
                except grpc.RpcError as error:
                    self.failed.append(f"ModelInfer: {error}")

    @contextmanager
    def _timed(self) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.slowest = max(self.slowest, time.monotonic() - began)
        self.succeeded += 1
        time.sleep(0.02)


def infer(channel: grpc.Channel, version: str) -> grpc.Call:
    """Infer over gRPC; return the call, whose metadata report more."""
    request = messages.ModelInferRequest(model_name="numbers", model_version=version)
    tensor = request.inputs.add(name="input", datatype="FP64", shape=[1, 5])
    tensor.contents.fp64_contents.extend([0.1] * 5)
    method = channel.unary_unary(
        "/inference.GRPCInferenceService/ModelInfer",
        request_serializer=messages.ModelInferRequest.SerializeToString,
        response_deserializer=messages.ModelInferResponse.FromString,
    )
    _, call = method.with_call(request, timeout=60)
    return call


@contextmanager
def load(api: Api, rpc: str) -> Iterator[Load]:
    """All names, and formats answered at once, in a thread, and by lines."""
    tensors = {"inputs": [{"name": "input", "shape": [1, 5], "datatype": "FP64", "data": [0.1] * 5}]}
    rows, one = json.dumps(ROWS).encode(), json.dumps(ROWS["rows"][0]).encode()
    running = Load(api, rpc)
    posts = (
        ("/v1/models/numbers/versions/1/predict", "application/json", rows),
        ("/v1/models/numbers/versions/2/predict", "text/csv", b"a,b,c,d,e\n1,2,3,4,5\n"),
        ("/v1/models/numbers@champion/predict", "application/x-ndjson", one),
        ("/v1/models/numbers/predict", "application/json", rows),
        ("/v2/models/numbers/versions/1/infer", "application/json", json.dumps(tensors).encode()),
        ("/v2/models/numbers/infer", "application/json", json.dumps(tensors).encode()),
    )
    threads = [threading.Thread(target=running.post, args=arguments) for arguments in posts]
    threads += [threading.Thread(target=running.probe), threading.Thread(target=running.call)]
    for thread in threads:
        thread.start()
    try:
        yield running
    finally:
        running.stopping.set()
        for thread in threads:
            thread.join(60)


def unavailable(response: httpx2.Response) -> None:
    assert response.status_code == 503, response.text
    assert int(response.headers["Retry-After"]) > 0
    assert response.json()["type"] == "/problems/unavailable"


def upload(api: Api) -> httpx2.Response:
    return api.http.post("/v1/datasets", content=b"a,y\n1,2\n2,3\n", headers={"Content-Type": "text/csv"})


def submit(api: Api) -> httpx2.Response:
    request = {"dataset_id": "01900000-0000-7000-8000-000000000001", "target": "y"}
    return api.http.post("/v1/training-jobs", json=request)


def predict(api: Api, name: str) -> httpx2.Response:
    return api.http.post(f"/v1/models/{name}/predict", json=ROWS)


def is_stale(api: Api, name: str) -> bool:
    return "Relevance-Stale" in predict(api, name).headers


def rpc_address(api: Api) -> str:
    """Where the API speaks gRPC."""
    assert api.process.stdout is not None
    reported = (re.fullmatch(r"  gRPC +(\S+)\n", line) for line in api.process.stdout)
    return next(found[1] for found in reported if found)


def is_restored(api: Api) -> bool:
    fresh = predict(api, "numbers")
    return (
        upload(api).status_code == 201
        and api.http.get("/health/ready?for=training").status_code == 200
        and (fresh.status_code, "Relevance-Stale" in fresh.headers) == (200, False)
    )


@dataclass
class Place:
    """A worker, and an API with two versions of `numbers`, of which the first is called `champion`."""

    api: Api
    rpc: str


@contextmanager
def served(database: Database, folder: Path, stale_seconds: float) -> Iterator[Place]:
    with deployed(database.url, folder) as deployment:
        deployment.start("worker", RELEVANCE_WORKER_SLOTS="1")
        api = deployment.api(
            RELEVANCE_STALE_IF_ERROR_SECONDS=str(stale_seconds), RELEVANCE_LOG_REQUESTS="0", RELEVANCE_GRPC_PORT="0"
        )
        for _ in range(2):
            add_version(api.http, "numbers", version_of_numbers(Independent()))
        assert api.http.put("/v1/models/numbers/aliases/champion", json={"version": 1}).status_code == 201
        for name in ("numbers", "numbers@champion"):
            assert predict(api, name).status_code == 200
        until(lambda: api.http.get("/health/ready?for=training").status_code == 200, seconds=30)
        yield Place(api, rpc_address(api))


def refused_at_once(api: Api) -> Callable[[], bool]:
    """Return whether uploads, submits and lists are refused without waiting."""

    def check() -> bool:
        began = time.monotonic()
        responses = [upload(api), submit(api), api.http.get("/v1/models"), api.http.get("/v2/models/numbers")]
        return {one.status_code for one in responses} == {503} and time.monotonic() - began < 2.0

    return check


def test_predictions_outlive_the_database_under_load(database: Database, tmp_path: Path) -> None:
    with served(database, tmp_path, 300) as place, load(place.api, place.rpc) as running:
        api = place.api
        time.sleep(1.0)
        assert running.failed == []
        database.take_away()
        # More than there are threads for such requests, all at once.
        with ThreadPoolExecutor(60) as many:
            began = time.monotonic()
            waiting = [many.submit((upload, submit)[number % 2], api) for number in range(60)]
            for one in waiting[: len(waiting) // 2]:
                unavailable(one.result(60))
            assert time.monotonic() - began < database.refuses_within
        until(refused_at_once(api), seconds=database.refuses_within)
        assert api.http.get("/health/ready?for=training").status_code == 503
        database.give_back()
        back = time.monotonic()
        until(lambda: is_restored(api), seconds=RESTORED_WITHIN, pause=0.1)
        assert time.monotonic() - back < RESTORED_WITHIN
        time.sleep(1.0)
        running.stopping.set()
        assert running.failed == []
        assert running.succeeded > 200
        assert running.slowest < 2.0
        logged = "".join(log.read_text() for log in tmp_path.glob("api-*.log"))
        assert [logged.count(f'"the database is {state}"') for state in ("unreachable", "reachable again")] == [1, 1]


@away("sqlite-moved", "postgresql-frozen")
def test_names_that_may_move_are_served_for_a_time_and_report_it(database: Database, tmp_path: Path) -> None:
    with served(database, tmp_path, STALE_SECONDS) as place:
        api = place.api
        database.take_away()
        away = time.monotonic()
        for name in ("numbers", "numbers@champion"):
            until(partial(is_stale, api, name), seconds=3.5, pause=0.1)
            stale = predict(api, name)
            assert (stale.status_code, stale.headers["Relevance-Stale"]) == (200, "1")
            assert 1 <= int(stale.headers["Age"]) <= STALE_SECONDS
        with grpc.insecure_channel(place.rpc) as channel:
            assert ("relevance-stale", "1") in (infer(channel, "champion").trailing_metadata() or ())
            assert "relevance-stale" not in dict(infer(channel, "1").trailing_metadata() or ())
        assert "Relevance-Stale" not in predict(api, "numbers/versions/1").headers
        assert api.http.get("/health/ready").status_code == 200
        time.sleep(max(0.0, away + STALE_SECONDS + 1.5 - time.monotonic()))
        for name in ("numbers", "numbers@champion"):
            unavailable(predict(api, name))
        assert predict(api, "numbers/versions/1").status_code == 200
        database.give_back()
        until(lambda: is_restored(api), seconds=RESTORED_WITHIN, pause=0.1)


def test_a_process_that_never_reached_its_database_is_not_ready(tmp_path: Path) -> None:
    url = "postgresql://nobody@127.0.0.1:1/nothing"
    with deployed(url, tmp_path) as deployment:
        api = deployment.api()
        assert api.http.get("/health/live").status_code == 200
        assert api.http.get("/health/ready").status_code == 503
        assert api.http.get("/v2/health/ready").status_code == 503
        unavailable(predict(api, "numbers"))
