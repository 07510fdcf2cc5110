"""Periodic tasks: what a process does at intervals, in a thread."""

from collections.abc import Callable, Sequence
from threading import Event, Thread

from app.errors import UnavailableError


class PeriodicTasks:
    """Runs `tasks` every `every` seconds in a thread of this `name` from `start` until `stop`.

    A task that can't reach the database is left out until the next time, and `report` is called with the reason.
    """

    def __init__(
        self,
        tasks: Sequence[Callable[[], object]],
        *,
        every: float,
        report: Callable[[str], None],
        name: str = "periodic-tasks",
    ) -> None:
        self._tasks = tasks
        self._every = every
        self._report = report
        self._stopping = Event()
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread, which runs the first tasks at once."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, without waiting for a running task."""
        self._stopping.set()

    def has_ended(self, seconds: float) -> bool:
        """Return whether the thread ends within some seconds, after `stop`; False where it was not started."""
        if self._thread.ident is None:
            return False
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def run_last(self, seconds: float) -> None:
        """Run the tasks once more after `stop`, unless the thread does not end within some seconds."""
        if self.has_ended(seconds):
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
                self._report(error.detail)
