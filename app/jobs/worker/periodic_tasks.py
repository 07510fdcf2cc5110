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

    def _run(self) -> None:
        while not self._stopping.is_set():
            for task in self._tasks:
                try:
                    task()
                except UnavailableError as error:
                    self._outage.report(error.detail)
            self._stopping.wait(self._every)
