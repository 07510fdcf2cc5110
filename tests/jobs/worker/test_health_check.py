"""The health check as a container runs it: a process of its own that reads the worker's health file."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.jobs.worker import health_check
from app.jobs.worker.spool import HealthFile, Spool

EXECUTOR = "here:1"


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path, executor=EXECUTOR)
    spool.open()
    yield spool
    spool.close()


@pytest.fixture
def health_file(spool: Spool) -> Iterator[HealthFile]:
    file = HealthFile(spool, executor=EXECUTOR, limit=7.0)
    file.write()
    yield file
    file.close()


def check(directory: Path) -> subprocess.CompletedProcess[str]:
    """The check as a process, with no environment but the spool directory."""
    return subprocess.run(
        (sys.executable, "-I", "-S", health_check.__file__),
        env={"RELEVANCE_SPOOL_DIRECTORY": str(directory)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_a_worker_that_has_just_written_its_heartbeat_is_healthy(health_file: HealthFile, tmp_path: Path) -> None:
    done = check(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    health_file.write()
    assert check(tmp_path).returncode == 0


def test_a_directory_without_workers_and_no_directory_are_unhealthy(tmp_path: Path) -> None:
    done = check(tmp_path)
    assert done.returncode == 1
    assert done.stderr == f"No worker with files in {tmp_path} has written a heartbeat in time.\n"
    done = check(tmp_path / "none")
    assert done.returncode == 1
    assert done.stderr.startswith("The spool directory can't be read: ")


def test_a_heartbeat_counts_until_its_limit(health_file: HealthFile, tmp_path: Path) -> None:
    def healthy(after: float) -> list[str]:
        return health_check.healthy_workers(str(tmp_path), now=time.monotonic() + after)

    assert healthy(6.0) == [EXECUTOR]
    assert healthy(7.5) == []


def test_a_check_right_after_a_heartbeat_is_healthy(
    health_file: HealthFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 1234.5678)
    health_file.write()
    assert health_check.healthy_workers(str(tmp_path), now=1234.5678) == [EXECUTOR]


def test_a_heartbeat_from_before_the_machines_last_start_does_not_count(
    health_file: HealthFile, tmp_path: Path
) -> None:
    assert health_check.healthy_workers(str(tmp_path), now=time.monotonic() - 3600.0) == []


def test_a_step_of_the_wall_clock_changes_nothing(spool: Spool, health_file: HealthFile, tmp_path: Path) -> None:
    os.utime(spool.health_file, (0, 0))
    assert check(tmp_path).returncode == 0


def test_one_of_two_workers_in_a_directory_is_enough(health_file: HealthFile, tmp_path: Path) -> None:
    (tmp_path / "relevance-worker-old.health").write_text("0000000000000001.000 7 here:2\n")
    (tmp_path / "relevance-worker-empty.health").touch()
    (tmp_path / "relevance-worker-directory.health").mkdir()
    assert health_check.healthy_workers(str(tmp_path), now=time.monotonic()) == [EXECUTOR]


def test_the_line_keeps_its_length_and_is_written_in_place(spool: Spool, health_file: HealthFile) -> None:
    before = (spool.health_file.stat().st_ino, len(spool.health_file.read_text()))
    for _ in range(3):
        health_file.write()
    assert (spool.health_file.stat().st_ino, len(spool.health_file.read_text())) == before


def test_a_health_file_that_cannot_be_written_is_one_line_of_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = HealthFile(Spool(tmp_path / "none" / "here", executor=EXECUTOR), executor=EXECUTOR, limit=7.0)
    for _ in range(3):
        file.write()
    assert caplog.messages == ["the health file can't be written: health checks will fail"]


def cpu_seconds(run: Callable[[], subprocess.CompletedProcess[str]]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run().returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_the_check_costs_the_start_of_an_interpreter_and_little_more(health_file: HealthFile, tmp_path: Path) -> None:
    def started() -> subprocess.CompletedProcess[str]:
        program = (sys.executable, "-I", "-S", "-c", "pass")
        return subprocess.run(program, env={}, capture_output=True, text=True, timeout=30, check=False)

    pairs = [(cpu_seconds(lambda: check(tmp_path)), cpu_seconds(started)) for _ in range(9)]
    checks, starts = zip(*pairs, strict=True)
    assert min(checks) < 1.5 * min(starts)


def test_worker_and_check_take_one_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = ("RELEVANCE_SPOOL_DIRECTORY", "TMPDIR", "TEMP", "TMP")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    assert health_check.default_directory() == "/tmp"
    for name in reversed(names):
        monkeypatch.setenv(name, str(tmp_path / name))
        assert health_check.default_directory() == str(tmp_path / name)
