"""The deadline of a delivery attempt."""

import time
from dataclasses import dataclass, field
from threading import Event

from app.jobs.worker.retry import Interrupted

SECONDS = 10.0
"""For one attempt, from looking up the name to the status."""

CONNECT_SECONDS = 4.0
"""Of these, for one connection, and for agreeing on its keys; less than a worker's grace."""

LAST_SECONDS = 2.0
"""For what is on its way when the worker is asked to end; the rest is handed back, and sent again by others."""

PIECE = 0.25


@dataclass
class Deadline:
    """Counts down from its making; soon over once `stopping` is set."""

    stopping: Event
    seconds: float = SECONDS
    began: float = field(default_factory=time.monotonic)
    shutdown_signal: float | None = field(default=None, init=False)

    def piece(self, most: float = PIECE) -> float:
        """For how long to wait before asking again; raises TimeoutError, Interrupted."""
        now = time.monotonic()
        left = self.began + self.seconds - now
        if left <= 0:
            raise TimeoutError
        if self.stopping.is_set():
            if self.shutdown_signal is None:
                self.shutdown_signal = now
            left = min(left, self.shutdown_signal + LAST_SECONDS - now)
            if left <= 0:
                raise Interrupted
        return min(most, left)
