"""Periodic tasks: deletion of abandoned uploads and of expired results, keys and events."""

from collections.abc import Callable, Sequence
from threading import Event, Thread

from app.errors import UnavailableError
from app.jobs.worker.outage import DatabaseOutage


class PeriodicTasks:
    """Runs `tasks` every `every` seconds in a thread, so that heartbeats do not wait for them."""

    def __init__(self, tasks: Sequence[Callable[[], object]], *, every: float, outage: DatabaseOutage) -> None:
        self._tasks = tasks
        self._every = every
        self._outage = outage
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="periodic-tasks", daemon=True)

    def start(self) -> None:
        """Start the thread, which runs the first tasks at once."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, without waiting for a running task."""
        self._stopping.set()

    def run_last(self, seconds: float) -> None:
        """Run the tasks once more after `stop`, unless the thread does not end within some seconds."""
        self._thread.join(seconds)
        if not self._thread.is_alive():
            self._run_once()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._run_once()
            self._stopping.wait(self._every)

    def _run_once(self) -> None:
        for task in self._tasks:
            try:
                task()
            except UnavailableError as error:
                self._outage.report(error.detail)
