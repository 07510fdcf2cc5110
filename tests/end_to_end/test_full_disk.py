"""Full disks: that of the spool directory and that of the database, and what goes on working."""

import errno
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, event
from starlette.testclient import TestClient

from app.database import transaction
from app.main import create_app
from app.services import ProcessParts, build
from app.settings import Settings
from tests.problems import assert_problem

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

FULL_SPOOL = "The disk of the spool directory (RELEVANCE_SPOOL_DIRECTORY) is full, and the body needs it."
FULL_DATABASE = "The disk of the database is full: free space on it, or delete what is not needed."
SMALL = b"x,y\n" + b"".join(b"%d,%d\n" % (n, n * n) for n in range(40))
LARGE = b"x,t\n" + b"".join(b"%d,text-%d\n" % (n, n * 7919) for n in range(20_000))
CSV = {"Content-Type": "text/csv"}


@pytest.fixture
def parts(database_url: str) -> Iterator[ProcessParts]:
    parts = build(Settings(database_url=database_url))
    yield parts
    parts.close()


@pytest.fixture
def client(parts: ProcessParts, database_url: str) -> Iterator[TestClient]:
    with TestClient(create_app(Settings(database_url=database_url), parts), base_url="http://localhost") as client:
        yield client


class FullFile(io.FileIO):
    """A file without a buffer on a full disk, which takes no byte."""

    def write(self, _: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def without_space(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The spool directory is on a full disk."""

    def opened(*_: object, buffering: int, **__: object) -> FullFile:
        assert buffering == 0, "a buffer is written once more when its file is closed"
        return FullFile(tmp_path / "spooled", "w+")

    monkeypatch.setattr(tempfile, "TemporaryFile", opened)


@pytest.mark.usefixtures("without_space")
@pytest.mark.parametrize("content", [SMALL, LARGE], ids=["small", "large"])
def test_an_upload_is_refused_where_the_spool_directory_is_full(client: TestClient, content: bytes) -> None:
    response = client.post("/v1/datasets", content=content, headers=CSV)
    assert_problem(response, "insufficient-storage", FULL_SPOOL)
    assert response.headers["Retry-After"] == "60"


def fill(engine: Engine) -> None:
    """Let the database's file not grow any more."""

    def bound(connection: object, *_: object) -> None:
        cursor = connection.cursor()  # type: ignore[attr-defined]
        (pages,) = cursor.execute("PRAGMA page_count").fetchone()
        cursor.execute(f"PRAGMA max_page_count = {pages}")
        cursor.close()

    event.listen(engine, "connect", bound)
    engine.dispose()


def test_a_full_database_refuses_what_needs_space_and_deletes(client: TestClient, parts: ProcessParts) -> None:
    created = client.post("/v1/datasets", content=LARGE, headers=CSV)
    assert created.status_code == 201
    small = client.post("/v1/datasets", content=SMALL, headers=CSV).json()["id"]
    fill(parts.base.engine)
    assert_problem(client.post("/v1/datasets", content=LARGE, headers=CSV), "insufficient-storage", FULL_DATABASE)
    request = {"dataset_id": small, "model": "m", "target": "y", "inputs": ["x"], "task": "regression"}
    responses = [client.post("/v1/training-jobs", json=request)]
    while responses[-1].status_code == 202 and len(responses) < 500:
        responses.append(client.post("/v1/training-jobs", json=request))
    assert_problem(responses[-1], "insufficient-storage", FULL_DATABASE)
    assert client.get("/health/ready").status_code == 200
    assert client.get("/v1/datasets").status_code == 200
    assert client.delete(f"/v1/datasets/{created.json()['id']}").status_code == 204
    assert client.post("/v1/datasets", content=LARGE, headers=CSV).status_code == 201


def test_trainings_are_not_ready_where_the_disk_of_the_database_is_full(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get("/health/ready").json()["has_space"] is True
    monkeypatch.setattr(transaction, "EXHAUSTED_BYTES", 2**60)
    assert client.get("/health/ready").status_code == 200
    response = client.get("/health/ready", params={"for": "training"})
    assert (response.status_code, response.json()["has_space"]) == (503, False)
