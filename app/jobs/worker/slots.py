"""The slots of a worker: how many fits run, and for how long they have run altogether."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from uuid import UUID

from app.jobs.ports import WorkerUse


class Slots:
    """Counts the fits that run in `number` slots, and the seconds of all of them, by a monotonic clock."""

    def __init__(self, number: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._number = number
        self._clock = clock
        self._lock = Lock()
        self._began: dict[object, float] = {}
        self._ended_seconds = 0.0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Take a slot for the time of a block."""
        key = object()
        with self._lock:
            self._began[key] = self._clock()
        try:
            yield
        finally:
            with self._lock:
                self._ended_seconds += self._clock() - self._began.pop(key)

    def counted(self, run: Callable[[UUID], bool]) -> Callable[[UUID], bool]:
        """Return a function that runs a job in a slot."""

        def run_in_slot(job_id: UUID) -> bool:
            with self.taken():
                return run(job_id)

        return run_in_slot

    def use(self) -> WorkerUse:
        """Return the use until now."""
        with self._lock:
            now = self._clock()
            seconds = self._ended_seconds + sum(now - began for began in self._began.values())
            return WorkerUse(self._number, len(self._began), seconds)
