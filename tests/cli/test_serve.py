"""`relevance serve` as a person starts it, on a database of its own and a free port."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from app import __version__
from app.cli import run_server
from app.settings import Settings
from relevance_bayes.client import connect
from relevance_bayes.client.responses import Json
from tests.commands import Run
from tests.waiting import until

RELEVANCE = (sys.executable, "-m", "app.cli")
TIMEOUT = 120

KERNELS_OF_WIDTH_2: Json = [
    {"type": "kernel", "kernel": {"type": "gaussian"}, "width": {"type": "fixed", "value": 2.0}},
    {"type": "bias"},
]
"""Learned from without a search, at once."""


def environment(directory: Path, **settings: str) -> dict[str, str]:
    theirs = {name: value for name, value in os.environ.items() if not name.startswith("RELEVANCE_")}
    ours = {
        "RELEVANCE_DATABASE_URL": f"sqlite:///{directory / 'relevance.db'}",
        "RELEVANCE_PORT": "0",
        "RELEVANCE_DRAIN_SECONDS": "0",
        "RELEVANCE_SPOOL_DIRECTORY": str(directory),
    }
    return theirs | ours | settings


def relevance(directory: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    command = (*RELEVANCE, *arguments)
    env = environment(directory, **settings)
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=TIMEOUT, check=False)


@dataclass
class Served:
    """A running service, and its output at the start."""

    process: subprocess.Popen[str]
    greeting: str

    @property
    def url(self) -> str:
        found = re.search(r"is at (http://127\.0\.0\.1:\d+)\n", self.greeting)
        assert found is not None, self.greeting
        return found[1]

    def status(self, path: str) -> int:
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=TIMEOUT)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()

    def rest_of_output(self) -> str:
        """The output up to its end; the worker holds the same pipe, so this waits for both."""
        return self.process.communicate(timeout=TIMEOUT)[0]


@contextmanager
def served(directory: Path) -> Iterator[Served]:
    with (
        (directory / "log").open("wb") as log,
        subprocess.Popen(
            (*RELEVANCE, "serve", "--until-eof"),
            env=environment(directory),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            lines = [process.stdout.readline() for _ in range(5)]
            yield Served(process, "".join(lines))
        finally:
            process.kill()


@pytest.mark.thorough
def test_it_serves_trains_and_stops_with_its_worker_on_ctrl_c(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        assert f"{service.url}/docs" in service.greeting
        assert str(tmp_path / "relevance.db") in service.greeting
        assert service.status("/docs") == 200
        with connect(service.url) as client:
            x = [i / 10 for i in range(30)]
            dataset = client.create_dataset({"x": list(x), "y": [at * at for at in x]}, name="parabola")
            job = client.trainings.submit({"dataset_id": dataset.id, "target": "y", "basis": KERNELS_OF_WIDTH_2})
            assert client.trainings.wait(job.id).state == "succeeded"
        alive = relevance(tmp_path, "check", "worker")
        assert alive.returncode == 0, alive.stderr
        service.process.send_signal(signal.SIGINT)
        assert service.rest_of_output() == "Stopped.\n"
        assert service.process.returncode == 0
    stopped = relevance(tmp_path, "check", "worker")
    assert stopped.returncode == 1
    assert "No worker" in stopped.stderr


@pytest.mark.thorough
def test_it_stops_with_its_worker_on_sigterm(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        service.process.terminate()
        assert service.rest_of_output() == "Stopped.\n"
        assert service.process.returncode == 0


@pytest.mark.thorough
def test_its_worker_does_not_outlive_it(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        service.process.kill()
        assert service.rest_of_output() == ""


def test_a_port_that_is_taken_is_stated_with_what_to_do(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        monkeypatch.setenv("RELEVANCE_PORT", str(port))
        done = run("serve")
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    assert f"127.0.0.1:{port}" in done.stderr
    assert "RELEVANCE_PORT" in done.stderr


def test_address_and_port_are_options_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELEVANCE_PORT", "1")
    monkeypatch.setenv("RELEVANCE_HOST", "192.0.2.1")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        done = run("serve", "--host", "127.0.0.1", "--port", str(port))
    assert done.exit_code == 1
    assert f"127.0.0.1:{port}" in done.stderr


def test_so_is_a_port_that_is_taken_where_grpc_is_to_be_spoken(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELEVANCE_PORT", "0")
    monkeypatch.setenv("RELEVANCE_GRPC_PORT", "1")  # kept from what the option sets, for the tests that follow
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        done = run("api", "--grpc-port", str(port))
    assert done.exit_code == 1
    assert f"127.0.0.1:{port}" in done.stderr
    assert "RELEVANCE_GRPC_PORT" in done.stderr


ISSUER = {"RELEVANCE_JWT_ISSUER": "https://issuer.test", "RELEVANCE_JWT_AUDIENCE": "relevance"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"RELEVANCE_GRPC_PORT": "0"}, "pip install ./library '.[grpc]'"),
        ({"RELEVANCE_TRACING": "true"}, "pip install ./library '.[tracing]'"),
        (ISSUER, "pip install ./library '.[jwt]'"),
        ({"RELEVANCE_METRICS_DIRECTORY": "metrics"}, "RELEVANCE_METRICS_DIRECTORY needs locks of files"),
    ],
    ids=["grpc", "tracing", "issuer", "metrics"],
)
def test_what_needs_a_missing_package_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], message: str
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    for module in ("run_server", "run_worker"):
        monkeypatch.setattr(f"app.cli.{module}.find_spec", lambda _: None)
    done = run("api")
    assert done.exit_code == 1
    assert message in done.stderr


@pytest.mark.parametrize("missing", ["grpc", "hpack", "hyperframe"])
def test_grpc_needs_all_of_its_packages(run: Run, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setenv("RELEVANCE_GRPC_PORT", "0")
    monkeypatch.setattr("app.cli.run_server.find_spec", lambda name: None if name == missing else find_spec(name))
    done = run("api")
    assert done.exit_code == 1
    assert "not all of which are installed" in done.stderr


def test_a_directory_of_metrics_that_cannot_be_written_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RELEVANCE_METRICS_DIRECTORY", str(tmp_path / "file"))
    done = run("api")
    assert done.exit_code == 1
    assert f"RELEVANCE_METRICS_DIRECTORY: can't write {tmp_path / 'file'}: File exists." in done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("command", ["serve", pytest.param("worker", marks=pytest.mark.thorough)])
def test_a_service_without_its_database_reports_it_and_ends(tmp_path: Path, command: str) -> None:
    done = relevance(tmp_path, command, RELEVANCE_DATABASE_URL=f"sqlite:///{tmp_path / 'nowhere' / 'relevance.db'}")
    assert done.returncode == 1
    assert "RELEVANCE_DATABASE_URL" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_database_a_migration_reports_it(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", f"sqlite:///{tmp_path / 'nowhere' / 'relevance.db'}")
    done = run("migrate")
    assert done.exit_code == 1
    assert "RELEVANCE_DATABASE_URL" in done.stderr


@pytest.mark.thorough
@pytest.mark.usefixtures("migrated_file")
def test_without_a_reader_of_its_greeting_all_output_is_json(migrated_file: Path, tmp_path: Path) -> None:
    settings = {
        "RELEVANCE_DATABASE_URL": f"sqlite:///{migrated_file}",
        "RELEVANCE_PORT": "0",
        "RELEVANCE_API_KEY": "hunter2-of-the-client",
        "RELEVANCE_DRAIN_SECONDS": "0",
    }
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            (*RELEVANCE, "api"), env=environment(tmp_path, **settings), stdout=output, stderr=output
        )
        until(lambda: "Application startup complete" in log.read_text(), seconds=TIMEOUT)
        process.terminate()
        assert process.wait(TIMEOUT) == 0
    records = [json.loads(line) for line in log.read_text().splitlines()]
    assert not any("color_message" in record for record in records)
    (started,) = (record for record in records if record["event"] == "starting")
    assert started["release"] == __version__
    assert started["url"].startswith("http://127.0.0.1:")
    assert started["settings"]["api_key"] == "**********"
    assert records[-1]["event"] == "stopped"
    assert "hunter2" not in log.read_text()


@pytest.mark.thorough
def test_a_worker_logs_its_start_and_its_stop_with_release_and_settings(migrated_file: Path, tmp_path: Path) -> None:
    settings = {
        "RELEVANCE_DATABASE_URL": f"sqlite:///{migrated_file}",
        "RELEVANCE_INITIAL_API_KEY": "hunter2-of-the-service",
        "RELEVANCE_WORKER_SLOTS": "3",
    }
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            (*RELEVANCE, "worker"), env=environment(tmp_path, **settings), stdout=output, stderr=output
        )
        until(lambda: "worker started" in log.read_text(), seconds=TIMEOUT)
        process.terminate()
        assert process.wait(TIMEOUT) == 0
    events = {record["event"]: record for record in map(json.loads, log.read_text().splitlines())}
    started, stopped = events["worker started"], events["worker stopped"]
    assert started["release"] == stopped["release"] == __version__
    assert started["worker"] == stopped["worker"]
    assert started["settings"]["worker_slots"] == "3"
    assert "hunter2" not in log.read_text()


@pytest.mark.parametrize("has_key", [False, True])
def test_the_greeting_states_whether_requests_need_a_key(
    migrated_file: Path, *, has_key: bool, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", f"sqlite:///{migrated_file}")
    if has_key:
        assert run("keys", "create", "one").exit_code == 0
    with socket.create_server(("127.0.0.1", 0)) as listener:
        greeting = run_server._greeting(Settings(), listener, with_worker=False)
    assert ("needed once there is one" in greeting) is not has_key
    assert "  API keys       needed" in greeting
