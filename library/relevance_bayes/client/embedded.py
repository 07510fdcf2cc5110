"""A service of this program's own: the command `relevance serve` as a child process, on a database file.

It ends with `stop`, with this program, also a killed one, and with the last reference to it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from relevance_bayes.client.errors import NOT_REACHABLE, ClientError, Problem

MEMORY = ":memory:"
"""The name of a database in a temporary folder, which is removed when the service stops."""

START_SECONDS = 60.0
STOP_SECONDS = 20.0
POLL_SECONDS = 0.02

LOG_LINES = 15
"""The last lines of a log that an error has."""

GREETING = re.compile(rb"^Relevance \S+ is at (http://\S+)", re.MULTILINE)

INSTALLATION = (
    "An embedded service needs the command `relevance` of the distribution relevance-server, beside the interpreter "
    "or on the PATH. Install it, from a checkout with `pip install ./library .`, or connect to the URL of a service."
)


@dataclass(frozen=True, eq=False)
class EmbeddedService:
    """A running service; `log` is the file with its output, kept unless the database is in memory."""

    url: str
    log: Path
    stop: Callable[[], object]
    """End it, and wait for its end; idempotent."""


def start(database: Path | None, is_cancelled: Event | None = None) -> EmbeddedService:
    """Start a service on a database file, which is created or migrated, and wait until it responds.

    None is a database in a temporary folder. Raises ClientError where the command is not installed, does not start, or
    is cancelled by another thread.
    """
    command = _command()
    folder = None if database is not None else Path(tempfile.mkdtemp(prefix="relevance-"))
    path = (database or Path(folder or "", "relevance.db")).absolute()
    log = path.with_name(f"{path.name}.log")
    if "?" in str(path) or not path.parent.is_dir():
        raise _refusal(f"Expected a file in an existing folder, without a question mark in its path, got {path}.")
    with log.open("ab") as output:
        begin = output.tell()
        process = subprocess.Popen(
            [*command, "serve", "--until-eof"],
            env=_environment(path, folder),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0 if os.name == "posix" else None,  # Ctrl-C in a terminal is this program's
        )
    stop = _Stop(process, folder)
    try:
        url = _url(process, log, begin, is_cancelled or Event())
    except BaseException:
        stop()
        raise
    service = EmbeddedService(url, log, stop)
    weakref.finalize(service, stop)
    return service


class _Stop:
    """Ends a process by the end of its standard input, and removes its temporary folder."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path | None) -> None:
        self._process = process
        self._folder = folder
        self._parent = os.getpid()

    def __call__(self) -> None:
        process = self._process
        if os.getpid() != self._parent:  # a fork of the program that started it
            return
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
        for end in (process.terminate, process.kill, None):
            try:
                process.wait(STOP_SECONDS)
                break
            except subprocess.TimeoutExpired:
                if end is not None:
                    end()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def is_installed() -> bool:
    """Return whether the command that is started is installed."""
    return _found() is not None


def _found() -> str | None:
    """Return the command beside the interpreter, else that on the PATH."""
    return shutil.which("relevance", path=str(Path(sys.executable).parent)) or shutil.which("relevance")


def _command() -> tuple[str, ...]:
    found = _found()
    if found is None:
        raise ClientError(Problem(title="Not installed", type=NOT_REACHABLE, detail=INSTALLATION))
    return (found,)


def _environment(database: Path, folder: Path | None) -> dict[str, str]:
    """Return the environment without this program's settings of a service.

    PYTHONSAFEPATH is the option -P, also for the processes that the command starts: no module of the working directory
    hides one of the service.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RELEVANCE_")}
    spool = {} if folder is None else {"RELEVANCE_SPOOL_DIRECTORY": str(folder)}
    return (
        inherited
        | spool
        | {
            "PYTHONSAFEPATH": "1",
            "PYTHONUNBUFFERED": "1",
            "RELEVANCE_DATABASE_URL": f"sqlite:///{database}",
            "RELEVANCE_HOST": "127.0.0.1",
            "RELEVANCE_PORT": "0",
        }
    )


def _url(process: subprocess.Popen[bytes], log: Path, begin: int, is_cancelled: Event) -> str:
    """Return the URL in the greeting, which the service prints once it listens."""
    deadline, printed = time.monotonic() + START_SECONDS, b""
    while time.monotonic() < deadline:
        has_ended = process.poll() is not None
        with log.open("rb") as output:
            output.seek(begin)
            printed = output.read()
        if found := GREETING.search(printed):
            return found[1].decode()
        if has_ended or is_cancelled.wait(POLL_SECONDS):
            break
    last = "\n".join(printed.decode(errors="replace").splitlines()[-LOG_LINES:])
    raise _refusal(f"`relevance serve` did not start; the end of its output, {log}:\n{last}")


def _refusal(detail: str) -> ClientError:
    return ClientError(Problem(title="Not started", type=NOT_REACHABLE, detail=detail))
