"""`relevance check worker`, on the health files of a spool directory."""

import time
from pathlib import Path

import pytest
import typer

from app.cli.worker_health import check_worker
from app.settings import Settings


def test_healthy_workers_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "relevance-worker-a.health").write_text(f"{time.monotonic():020.3f} 7 here:1\n")
    (tmp_path / "relevance-worker-b.health").write_text(f"{time.monotonic():020.3f} 7 here:2\n")
    check_worker(Settings(spool_directory=tmp_path))
    assert capsys.readouterr().out == "Healthy: here:1, here:2\n"


def test_without_a_healthy_worker_the_command_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as end:
        check_worker(Settings(spool_directory=tmp_path))
    assert end.value.exit_code == 1
    assert capsys.readouterr().err == f"No worker with files in {tmp_path} has written a heartbeat in time.\n"


def test_a_spool_directory_that_does_not_exist_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        check_worker(Settings(spool_directory=tmp_path / "none"))
    assert str(tmp_path / "none") in capsys.readouterr().err
