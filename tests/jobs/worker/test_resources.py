"""The share of a machine that fits may use."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.jobs.worker import pool

Limit = Callable[[str, str], None]

WORKER = "system.slice/relevance-worker.service"


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Limit:
    """Write a file of a control group; the process is in the group of WORKER, of version 2 and of version 1."""
    own = tmp_path / "own"
    own.write_text(f"4:cpu,cpuacct:/\n3:memory:/{WORKER}\n0::/{WORKER}\n")
    monkeypatch.setattr(pool, "OWN_GROUPS", own)
    monkeypatch.setattr(pool, "CONTROL_GROUPS", tmp_path / "groups")

    def write(file: str, text: str) -> None:
        path = tmp_path / "groups" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return write


@pytest.mark.parametrize(
    "file",
    [
        "memory.max",  # of a container, which sees its own group as the outermost
        f"{WORKER}/memory.max",  # `MemoryMax` of a unit of systemd
        "system.slice/memory.max",
        "memory/memory.limit_in_bytes",
        f"memory/{WORKER}/memory.limit_in_bytes",
    ],
)
def test_memory_of_fits_is_most_of_the_limit_of_a_control_group(limit: Limit, file: str) -> None:
    unlimited = pool.memory_of_fits()
    limit(f"{WORKER}/memory.high", "5\n")
    limit(f"{WORKER}/memory.max" if "memory/" in file else f"memory/{WORKER}/memory.limit_in_bytes", "max\n")
    limit("other.slice/memory.max", "5\n")
    assert pool.memory_of_fits() == unlimited
    limit(file, "1000000\n")
    assert pool.memory_of_fits() == 800_000


def test_memory_of_fits_is_that_of_the_machine_where_there_are_no_control_groups(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pool, "OWN_GROUPS", tmp_path / "missing")
    assert pool.memory_of_fits() == int(0.8 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


@pytest.mark.parametrize("file", ["cpu.max", f"{WORKER}/cpu.max"])
@pytest.mark.parametrize(
    ("text", "cores"), [("200000 100000\n", 2), ("350000 100000\n", 3), ("50000 100000\n", 1), ("max 100000\n", 8)]
)
def test_cores_are_at_most_those_of_the_limit_of_a_control_group(
    limit: Limit, file: str, text: str, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert pool.cores() == 8
    limit(file, text)
    assert pool.cores() == cores
