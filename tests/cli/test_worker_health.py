"""`relevance check worker`, on the health files of a spool directory."""

import time
from pathlib import Path

import pytest

from tests.commands import Run, runner


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("RELEVANCE_SPOOL_DIRECTORY", str(tmp_path))
    return runner(monkeypatch)


def test_healthy_workers_are_listed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "relevance-worker-a.health").write_text(f"{time.monotonic():020.3f} 7 here:1\n")
    (tmp_path / "relevance-worker-b.health").write_text(f"{time.monotonic():020.3f} 7 here:2\n")
    assert run("check", "worker").stdout == "Healthy: here:1, here:2\n"


def test_without_a_healthy_worker_the_command_ends_with_1(run: Run, tmp_path: Path) -> None:
    done = run("check", "worker")
    assert done.exit_code == 1
    assert done.stderr == f"No worker with files in {tmp_path} has written a heartbeat in time.\n"


def test_a_spool_directory_that_does_not_exist_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELEVANCE_SPOOL_DIRECTORY", str(tmp_path / "none"))
    done = run("check", "worker")
    assert done.exit_code == 1
    assert str(tmp_path / "none") in done.stderr
