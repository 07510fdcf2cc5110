"""The share of a machine that fits may use."""

import os
from pathlib import Path

import pytest

from app.jobs.worker import resources


def test_memory_of_fits_is_most_of_the_containers_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limit, unlimited, missing = tmp_path / "memory.max", tmp_path / "unlimited", tmp_path / "missing"
    limit.write_text("1000000\n")
    unlimited.write_text("max\n")
    monkeypatch.setattr(resources, "CONTROL_GROUP", (missing, unlimited, limit))
    assert resources.memory_of_fits() == 800_000


@pytest.mark.parametrize(
    ("limit", "cores"), [("200000 100000\n", 2), ("350000 100000\n", 3), ("50000 100000\n", 1), ("max 100000\n", 8)]
)
def test_cores_are_at_most_those_of_the_containers_limit(
    limit: str, cores: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setattr(resources, "CPU_LIMIT", tmp_path / "cpu.max")
    assert resources.cores() == 8
    (tmp_path / "cpu.max").write_text(limit)
    assert resources.cores() == cores
