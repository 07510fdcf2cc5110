"""The share of a machine that one fit may use."""

import os
from pathlib import Path

import pytest

from app.jobs.worker import resources


def test_threads_of_a_fit_leave_half_of_the_cores_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, slots, threads in [(1, 1, 1), (2, 1, 1), (8, 1, 4), (8, 2, 2), (8, 8, 1)]:
        monkeypatch.setattr(resources, "cores", lambda cores=cores: cores)
        assert resources.threads_of_a_fit(slots) == threads


def test_memory_of_a_fit_is_its_share_of_the_containers_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limit, unlimited, missing = tmp_path / "memory.max", tmp_path / "unlimited", tmp_path / "missing"
    limit.write_text("1000000\n")
    unlimited.write_text("max\n")
    monkeypatch.setattr(resources, "CONTROL_GROUP", (missing, unlimited, limit))
    assert [resources.memory_of_a_fit(slots) for slots in (1, 4)] == [800_000, 200_000]


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
