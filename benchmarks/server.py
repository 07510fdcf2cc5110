"""The service as a child process: `relevance serve` on a free port, over a SQLite file of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_SECONDS = 60


@contextmanager
def running_server(directory: Path) -> Iterator[str]:
    """Its URL, for as long as the context lives; database and log stand in `directory`."""
    theirs = {name: value for name, value in os.environ.items() if not name.startswith("RELEVANCE_")}
    ours = {"RELEVANCE_DATABASE_URL": f"sqlite:///{directory / 'benchmark.db'}", "RELEVANCE_PORT": "0"}
    log = directory / "server.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            (sys.executable, "-m", "app.cli", "serve", "--until-eof"),
            env=theirs | ours,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            yield _address(process, log)
        finally:
            _stop(process)


def _address(process: subprocess.Popen[str], log: Path) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"is at (http://\S+)", line):
            return found[1]
    raise RuntimeError(f"the service did not start:\n{log.read_text()[-2000:]}")


def _stop(process: subprocess.Popen[str]) -> None:
    """It ends with its standard input, as it would if this program were killed."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
