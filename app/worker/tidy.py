"""Chores that nobody waits for, once in a while."""

import logging
from collections.abc import Callable
from threading import Event, Thread

from app.domain.errors import UnavailableError

logger = logging.getLogger(__name__)


class Housekeeper:
    """Does `chore` every so many seconds, in a thread of its own: the heart must not wait for it."""

    def __init__(self, chore: Callable[[], object], *, every: float) -> None:
        self._chore = chore
        self._every = every
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="housekeeper", daemon=True)

    def start(self) -> None:
        """Begin, with the first chore at once."""
        self._thread.start()

    def stop(self) -> None:
        """Begin no more; one that runs is not waited for."""
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._chore()
            except UnavailableError as error:
                logger.warning("a chore failed", extra={"why": error.detail})
            self._stopping.wait(self._every)
