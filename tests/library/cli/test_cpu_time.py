"""CPU time until a command begins, by the kernel's own account of the process."""

import os
import subprocess
import sys

import pytest

RUNS = 5
SHARED = 2.0
"""The factor by which CPU times may be greater on a core whose caches and units other processes use."""

NOWHERE = "http://127.0.0.1:9"


def cpu_seconds(*arguments: str) -> float:
    """The least of some runs."""
    found = []
    for _ in range(RUNS):
        process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        found.append(usage.ru_utime + usage.ru_stime)
    return min(found)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        (("-m", "app.cli", "--help"), 0.1),
        (("-m", "relevance_bayes.cli", "--help"), 0.1),
        (("-m", "app.cli", "models", "--url", NOWHERE), 0.4),
        (("-c", "import relevance_bayes.client"), 0.2),
    ],
    ids=["help", "help of the client", "a client command", "import of the client"],
)
def test_a_command_begins_within_its_cpu_time(arguments: tuple[str, ...], seconds: float) -> None:
    assert 0.0 < cpu_seconds(*arguments) < SHARED * seconds
