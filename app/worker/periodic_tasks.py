"""Chores that nobody waits for, once in a while."""

from collections.abc import Callable, Sequence
from threading import Event, Thread

from app.domain.errors import UnavailableError
from app.worker.outage import DatabaseOutage


class PeriodicTasks:
    """Does its chores every so many seconds, in a thread of its own: the heart must not wait for them."""

    def __init__(self, chores: Sequence[Callable[[], object]], *, every: float, outage: DatabaseOutage) -> None:
        self._chores = chores
        self._every = every
        self._outage = outage
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="housekeeper", daemon=True)

    def start(self) -> None:
        """Begin, with the first chores at once."""
        self._thread.start()

    def stop(self) -> None:
        """Begin no more; what runs is not waited for."""
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            for chore in self._chores:
                try:
                    chore()
                except UnavailableError as error:
                    self._outage.report(error.detail)
            self._stopping.wait(self._every)
