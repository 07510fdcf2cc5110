"""The worker process of `relevance serve`, restarted when it dies, and `relevance check worker`."""

import subprocess
import sys
import threading
import time
from types import TracebackType

import structlog

from app.cli.config import usable_settings
from app.jobs.worker.health_check import default_directory, healthy_workers
from relevance_bayes.cli.console import echo, refuse

log = structlog.stdlib.get_logger("app.worker_process")

STEADY_SECONDS = 10.0
"""The run time after which a worker that dies is restarted at once."""

MAX_PAUSE_SECONDS = 30.0
"""The maximum delay before the restart of a worker that fails at every start."""

GRACE_SECONDS = 15.0
"""The time in which a worker must requeue its jobs at shutdown before it is killed."""

WORKER = (sys.executable, "-P", "-m", "app.cli", "worker", "--until-eof")
"""The command of the worker. `--until-eof` ends it with its standard input, so that it does not outlive a killed
parent.

`-P` ignores a package `app` in the working directory.
"""


class WorkerProcess:
    """A context in which a worker runs, in a session of its own: Ctrl-C reaches only the parent, which stops the
    worker."""

    def __init__(self, command: tuple[str, ...] = WORKER, *, first_pause: float = 1.0) -> None:
        self._command = command
        self._first_pause = first_pause
        self._stopping = threading.Event()
        self._process = self._spawn()
        self._watch = threading.Thread(target=self._keep_alive, name="worker-keeper", daemon=True)

    @property
    def pid(self) -> int:
        """Return the process id of the current worker."""
        return self._process.pid

    def __enter__(self) -> "WorkerProcess":
        self._watch.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._close_its_input()
        self._watch.join(GRACE_SECONDS)
        if self._watch.is_alive():
            self._process.kill()
            self._watch.join()

    def _keep_alive(self) -> None:
        pause = self._first_pause
        while True:
            began = time.monotonic()
            code = self._process.wait()
            self._close_its_input()
            if self._stopping.is_set():
                return
            pause = (
                self._first_pause if time.monotonic() - began > STEADY_SECONDS else min(2 * pause, MAX_PAUSE_SECONDS)
            )
            log.warning("the worker exited and is restarted", exit_code=code, seconds=pause)
            if self._stopping.wait(pause):
                return
            self._process = self._spawn()
            if self._stopping.is_set():  # stopped between the wait and the spawn
                self._close_its_input()

    def _spawn(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, stdin=subprocess.PIPE, start_new_session=True)

    def _close_its_input(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()


def check_worker() -> None:
    """Exit with 0 where a worker with this spool directory has sent a recent heartbeat."""
    settings = usable_settings()
    directory = settings.spool_directory or default_directory()
    try:
        found = healthy_workers(str(directory), now=time.monotonic())
    except OSError as error:
        refuse(f"The spool directory can't be read: {error}.\nRELEVANCE_SPOOL_DIRECTORY sets it.")
    if not found:
        refuse(f"No worker with files in {directory} has written a heartbeat in time.")
    echo(f"Healthy: {', '.join(found)}")
