"""Processes that are killed during uploads, imports and migrations leave nothing half done; and a read-only file."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import httpx2
import pytest

from app.database import revision
from app.database.engine import make_engine
from app.database.snapshots import contents_of
from tests.end_to_end.deployment import TIMEOUT, Api, Deployment, deployed
from tests.served import add_version
from tests.small_models import small_version

ROW = "1,2\n"
ROWS = {"rows": [{"x": 1.0, "colour": "red"}]}


@pytest.fixture
def deployment(sqlite_template: Path, tmp_path: Path) -> Iterator[Deployment]:
    """An empty migrated file."""
    (tmp_path / "relevance.db").write_bytes(sqlite_template.read_bytes())
    with deployed(f"sqlite:///{tmp_path / 'relevance.db'}", tmp_path) as made:
        yield made


def kill(deployment: Deployment, api: Api) -> None:
    """Kill an API process, which has no exit code of its own."""
    api.process.kill()
    api.process.wait()
    assert api.process.stdout is not None
    assert api.process.stdin is not None
    api.process.stdout.close()
    api.process.stdin.close()
    deployment.processes.remove(api.process)


@pytest.mark.parametrize("at", [1, pytest.param(200, marks=pytest.mark.long), 20_000])
def test_an_upload_whose_api_is_killed_leaves_no_dataset(deployment: Deployment, at: int) -> None:
    api = deployment.api()

    def body() -> Iterator[bytes]:
        yield b"x,y\n"
        for number in range(50_000):
            if number == at:
                kill(deployment, api)
            yield (ROW * 20).encode()

    with pytest.raises(httpx2.TransportError):
        api.http.post("/v1/datasets?name=cut.csv", content=body(), headers={"Content-Type": "text/csv"})
    again = deployment.api()
    assert again.http.get("/v1/datasets").json()["items"] == []
    content = b"x,y\n" + ROW.encode() * 30
    made = again.http.post("/v1/datasets?name=whole.csv", content=content, headers={"Content-Type": "text/csv"})
    assert (made.status_code, made.json()["rows"]) == (201, 30)


def test_versions_are_whole_or_not_there_though_the_api_is_killed_during_imports(deployment: Deployment) -> None:
    api = deployment.api()
    add_version(api.http, "small", small_version())
    document = api.http.get("/v1/models/small/versions/1/export?format=json").content
    expected = api.http.post("/v1/models/small/predict", json=ROWS).json()["predictions"]
    accepted = 1
    for delay in (0.05, 0.2):
        killer = Timer(delay, api.process.kill)
        killer.start()
        try:
            while True:
                url, headers = "/v1/models/small/versions", {"Content-Type": "application/json"}
                accepted += api.http.post(url, content=document, headers=headers).status_code == 201
        except httpx2.TransportError:
            killer.join()
        kill(deployment, api)
        api = deployment.api()
        versions = api.http.get("/v1/models/small").json()["versions"]
        assert versions in {accepted, accepted + 1}  # the last one may be stored, and its response lost
        accepted = versions
        for number in (1, accepted):
            predicted = api.http.post(f"/v1/models/small/versions/{number}/predict", json=ROWS)
            assert predicted.json()["predictions"] == expected


def test_a_migration_that_is_killed_is_begun_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'relevance.db'}"
    program = [sys.executable, "-m", "app.cli", "migrate"]
    given = os.environ | {"RELEVANCE_DATABASE_URL": url}
    for delay in (0.5, 1.0, 2.0):
        with subprocess.Popen(program, env=given, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            time.sleep(delay)
            process.kill()
    subprocess.run(program, env=given, check=True, timeout=TIMEOUT, stdout=subprocess.DEVNULL)
    engine = make_engine(url)
    assert contents_of(engine).revision == revision.EXPECTED
    engine.dispose()


def test_a_read_only_file_is_read_and_refuses_changes_in_words(deployment: Deployment, tmp_path: Path) -> None:
    api = deployment.api()
    add_version(api.http, "small", small_version())
    kill(deployment, api)
    with sqlite3.connect(tmp_path / "relevance.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    url = f"sqlite:///file:{tmp_path / 'relevance.db'}?mode=ro&uri=true"
    deployment.database_url = url
    reader = deployment.api()
    assert reader.http.get("/v1/models/small").status_code == 200
    assert reader.http.post("/v1/models/small/predict", json=ROWS).status_code == 200
    table = {"columns": {"x": [1.0, 2.0]}}
    for response in (reader.http.post("/v1/datasets?name=a", json=table), reader.http.delete("/v1/models/small")):
        assert response.status_code == 503, response.text
        assert response.headers["Content-Type"] == "application/problem+json"
    assert reader.http.get("/health/live").status_code == 200
    assert reader.http.get("/v1/models/small").status_code == 200
    assert "unexpected" not in deployment.given()
