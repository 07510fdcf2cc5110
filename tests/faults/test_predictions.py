"""Predictions while the database is away, under load, on both databases; and everything else once it is back."""

import fcntl
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import numpy as np
import pytest

from app.bootstrap import migrate
from app.settings import Settings
from app.sparse_bayes.priors import Independent
from tests import postgres
from tests.end_to_end.deployment import Api, deployed
from tests.served import add_version
from tests.services.test_one_row import version_of_numbers
from tests.waiting import until

WHOLE_WITHIN = 5.0
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
    """Seconds after which a request that needs it is refused."""


@contextmanager
def locked_file(path: Path) -> Iterator[Database]:
    """SQLite, which is away while another program locks it: there is no server to kill."""
    with ExitStack() as stack:
        held = ExitStack()
        stack.enter_context(held)

        def lock() -> None:
            file = held.enter_context(Path(f"{path}-shm").open("r+b"))
            fcntl.lockf(file, fcntl.LOCK_EX, LOCKS, FIRST_LOCK)

        yield Database(f"sqlite:///{path}", lock, held.close, 40.0)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path, sqlite_template: Path) -> Iterator[Database]:
    if request.param == "sqlite":
        shutil.copyfile(sqlite_template, tmp_path / "relevance.db")
        with locked_file(tmp_path / "relevance.db") as locked:
            yield locked
        return
    programs = postgres.programs()
    assert programs is not None, postgres.INSTALL
    with postgres.mortal(programs) as server:
        server.create("relevance")
        url = server.url("relevance").render_as_string(hide_password=False)
        migrate(Settings(database_url=url))
        yield Database(url, server.kill, server.start, 10.0)


@dataclass
class Load:
    """Requests of a few threads, one after the other in each, until they are stopped."""

    url: str
    stopping: threading.Event = field(default_factory=threading.Event)
    failed: list[str] = field(default_factory=list)
    slowest: float = 0.0
    answered: int = 0

    def run(self, path: str, body: object) -> None:
        with httpx2.Client(base_url=self.url, timeout=60) as client:
            while not self.stopping.is_set():
                began = time.monotonic()
                response = client.post(path, json=body)
                self.slowest = max(self.slowest, time.monotonic() - began)
                self.answered += 1
                if response.status_code != 200:
                    self.failed.append(f"{path}: {response.status_code} {response.text}")
                time.sleep(0.01)


@contextmanager
def load(url: str) -> Iterator[Load]:
    tensors = {"inputs": [{"name": "input", "shape": [1, 5], "datatype": "FP64", "data": [0.1] * 5}]}
    running = Load(url)
    threads = [
        threading.Thread(target=running.run, args=arguments)
        for arguments in (
            ("/v1/models/numbers/versions/1/predict", ROWS),
            ("/v1/models/numbers/versions/2/predict", ROWS),
            ("/v2/models/numbers/versions/1/infer", tensors),
        )
    ]
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


def is_whole(api: Api) -> bool:
    fresh = predict(api, "numbers")
    return (
        upload(api).status_code == 201
        and api.http.get("/health/ready?for=training").status_code == 200
        and (fresh.status_code, "Relevance-Stale" in fresh.headers) == (200, False)
    )


@pytest.mark.thorough
def test_predictions_outlive_the_database(database: Database, tmp_path: Path) -> None:
    with deployed(database.url, tmp_path) as deployment:
        deployment.start("worker")
        api = deployment.api(RELEVANCE_STALE_SECONDS=str(STALE_SECONDS), RELEVANCE_LOG_REQUESTS="0")
        for _ in range(2):
            add_version(api.http, "numbers", version_of_numbers(Independent()))
        assert api.http.put("/v1/models/numbers/aliases/champion", json={"version": 1}).status_code == 201
        for name in ("numbers", "numbers@champion"):
            assert predict(api, name).status_code == 200
        until(lambda: api.http.get("/health/ready?for=training").status_code == 200, seconds=30)
        with load(str(api.http.base_url)) as running:
            time.sleep(1.0)
            assert not running.failed
            database.take_away()
            away = time.monotonic()
            until(lambda: "Relevance-Stale" in predict(api, "numbers").headers, seconds=3.5, pause=0.1)
            for name in ("numbers", "numbers@champion"):
                stale = predict(api, name)
                assert (stale.status_code, stale.headers["Relevance-Stale"]) == (200, "1")
                assert 1 <= int(stale.headers["Age"]) <= STALE_SECONDS
            assert "Relevance-Stale" not in predict(api, "numbers/versions/1").headers
            assert api.http.get("/health/ready").status_code == 200
            assert api.http.get("/health/ready?for=training").status_code == 503
            time.sleep(max(0.0, away + STALE_SECONDS + 1.5 - time.monotonic()))
            for name in ("numbers", "numbers@champion"):
                unavailable(predict(api, name))
            for refused in (upload, submit):
                began = time.monotonic()
                unavailable(refused(api))
                assert time.monotonic() - began < database.refuses_within
            database.give_back()
            back = time.monotonic()
            until(lambda: is_whole(api), seconds=WHOLE_WITHIN, pause=0.1)
            assert time.monotonic() - back < WHOLE_WITHIN
        assert running.failed == []
        assert running.answered > 100
        assert running.slowest < 2.0


def test_a_process_that_never_met_its_database_is_not_ready(tmp_path: Path) -> None:
    url = "postgresql://nobody@127.0.0.1:1/nothing"
    with deployed(url, tmp_path) as deployment:
        api = deployment.api()
        assert api.http.get("/health/live").status_code == 200
        assert api.http.get("/health/ready").status_code == 503
        assert api.http.get("/v2/health/ready").status_code == 503
        unavailable(predict(api, "numbers"))
