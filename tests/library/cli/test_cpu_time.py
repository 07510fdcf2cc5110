"""CPU time until a command begins, by the kernel's own account of the process."""

import os
import subprocess
import sys

import pytest

RUNS = 5

STANDARD = "import asyncio, decimal, email.message, http.client, json, logging, sqlite3, unittest, xml.dom.minidom"
"""A program of modules of the standard library, whose CPU time is the unit of all others: both are slower on a slow
machine, or where other processes use the caches of its core."""

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
    ("arguments", "units"),
    [
        (("-m", "app.cli", "--help"), 2.0),
        (("-m", "relevance_bayes.cli", "--help"), 2.0),
        (("-m", "app.cli", "models", "--url", NOWHERE), 7.0),
        (("-c", "import relevance_bayes.client"), 7.0),
    ],
    ids=["help", "help of the client", "a client command", "import of the client"],
)
def test_a_command_begins_within_its_cpu_time(arguments: tuple[str, ...], units: float) -> None:
    assert 0.0 < cpu_seconds(*arguments) < units * cpu_seconds("-c", STANDARD)
