"""The service as a child process, as `relevance serve` starts it: a free port, a database and a log of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TIMEOUT_SECONDS = 30


@contextmanager
def running_service(database: Path, *, log: Path) -> Iterator[str]:
    """The URL of a service that lives as long as the context. Raises RuntimeError where it does not start."""
    theirs = {name: value for name, value in os.environ.items() if not name.startswith("RELEVANCE_")}
    ours = {"RELEVANCE_DATABASE_URL": f"sqlite:///{database}", "RELEVANCE_PORT": "0"}
    command = (sys.executable, "-m", "app.cli", "serve", "--until-eof")
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command, env=theirs | ours, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            yield _address(process, log)
        finally:
            _stop(process)


def _address(process: subprocess.Popen[str], log: Path) -> str:
    """Return the first response of the service."""
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"is at (http://\S+)", line):
            return found[1]
    raise RuntimeError(f"The service did not start. Its last words, in {log}:\n{log.read_text()[-2000:]}")


def _stop(process: subprocess.Popen[str]) -> None:
    """It ends with its standard input, as it would if this program were killed."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
