"""The service as a child process, as `relevance serve` starts it: with a free port, a database and a log of its own."""

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
    """Yield the URL of a service that runs as long as the context. Raises RuntimeError where it does not start."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RELEVANCE_")}
    own = {"RELEVANCE_DATABASE_URL": f"sqlite:///{database}", "RELEVANCE_PORT": "0"}
    command = (sys.executable, "-m", "app.cli", "serve", "--until-eof")
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command, env=inherited | own, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            yield _address(process, log)
        finally:
            _stop(process)


def _address(process: subprocess.Popen[str], log: Path) -> str:
    """Return the URL that the service prints."""
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"is at (http://\S+)", line):
            return found[1]
    raise RuntimeError(f"The service did not start. The end of its log {log}:\n{log.read_text()[-2000:]}")


def _stop(process: subprocess.Popen[str]) -> None:
    """Close the standard input of the service, which stops it, as it would if this program were killed."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
