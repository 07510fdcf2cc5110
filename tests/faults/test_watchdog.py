"""A process that computes without end stops within its limits."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from time import monotonic

import pytest

from tests.processes import children, has_exited
from tests.waiting import until

WITHIN = 60
ENDED_BY_FORCE = "shutdown timed out"

STUCK_API = """
from app import services
from app.http import health
from app.cli import main
def without_end(*_):
    print("computing", flush=True)
    while True:
        pass
services.ProcessParts.ready = without_end
health.LiveOut = without_end
main()
"""
"""The command, where `/health/ready` computes in a worker thread without end, and `/health/live` on the event loop."""

STUCK_WORKER = """
from app.cli import run_worker
from app.jobs.worker.worker import Worker
def without_end(*_):
    while True:
        pass
run_worker.MAX_STOP_SECONDS = 1.0
Worker.stop = without_end
launch = Worker.start
def start(*arguments):
    is_working = launch(*arguments)
    print("working", flush=True)
    return is_working
Worker.start = start
from app.cli import main
main()
"""

HOLDS_THE_LOCK = """
from app.cli.shutdown import Watchdog
watchdog = Watchdog(0.1)
watchdog.arm()
sum(range(10**15))
"""


@contextmanager
def started(directory: Path, program: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process that runs `program`, whose standard error goes to a file."""
    environment = {
        "RELEVANCE_DATABASE_URL": f"sqlite:///{directory / 'relevance.db'}",
        "RELEVANCE_PORT": "0",
        "RELEVANCE_DRAIN_SECONDS": "0.5",
        "RELEVANCE_GRACE_SECONDS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    with (directory / "log").open("w") as log:
        process = subprocess.Popen(
            (sys.executable, "-c", program, *arguments),
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    late = Timer(WITHIN, process.kill)
    late.start()
    try:
        yield process
    finally:
        late.cancel()
        process.kill()
        process.communicate()


def address_of(process: subprocess.Popen[str]) -> tuple[str, int]:
    found = line_of(process, r"is at http://(\S+):(\d+)")
    return found[1], int(found[2])


def line_of(process: subprocess.Popen[str], pattern: str) -> re.Match[str]:
    """The first line on standard output with the pattern, once it is there."""
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(pattern, line):
            return found
    raise AssertionError(f"no line with {pattern}")


def seconds_to_stop(process: subprocess.Popen[str]) -> float:
    """The seconds from SIGTERM to the end of the process."""
    began = monotonic()
    process.terminate()
    process.wait()
    return monotonic() - began


@pytest.mark.parametrize(
    ("command", "path"), [("api", "/health/ready"), ("serve", "/health/live")], ids=["thread", "event-loop"]
)
def test_a_request_that_computes_without_end_does_not_keep_the_process(tmp_path: Path, command: str, path: str) -> None:
    with started(tmp_path, STUCK_API, command, "--until-eof") as process:  # which prints its address then
        with socket.create_connection(address_of(process)) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            line_of(process, "computing")
            workers = children(process.pid)
            assert len(workers) == (command == "serve")
            assert 2.0 < seconds_to_stop(process) < 10.0
        assert process.returncode == 1
        assert ENDED_BY_FORCE in (tmp_path / "log").read_text()
        until(lambda: all(has_exited(worker) for worker in workers), seconds=30)


def test_a_worker_that_does_not_stop_is_ended(tmp_path: Path) -> None:
    with started(tmp_path, "from app.cli import main; main()", "migrate") as process:
        assert process.wait() == 0
    with started(tmp_path, STUCK_WORKER, "worker") as process:
        line_of(process, "working")
        assert seconds_to_stop(process) < 10.0
        assert process.returncode == 1
        assert ENDED_BY_FORCE in (tmp_path / "log").read_text()


def test_c_code_that_holds_the_interpreter_lock_does_not_keep_the_process(tmp_path: Path) -> None:
    with started(tmp_path, HOLDS_THE_LOCK) as process:
        assert process.wait() == 1
        assert "Timeout" in (tmp_path / "log").read_text()


def test_the_time_limit_begins_again_for_the_next_step_but_not_before_a_signal(tmp_path: Path) -> None:
    program = """
import time
from app.cli.shutdown import Watchdog
watchdog = Watchdog(0.3)
watchdog.restart(0.1)
time.sleep(0.5)
watchdog.arm()
watchdog.restart(0.8)
watchdog.arm()
time.sleep(0.5)
print("within", flush=True)
time.sleep(30)
"""
    with started(tmp_path, program) as process:
        line_of(process, "within")
        assert process.wait() == 1
