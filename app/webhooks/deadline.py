"""The deadline of a delivery attempt."""

import time
from dataclasses import dataclass, field
from threading import Event

from app.jobs.worker.retry import Interrupted

SECONDS = 10.0
"""Seconds for one attempt, from the DNS lookup to the status."""

CONNECT_SECONDS = 4.0
"""Seconds of these for one connection and its TLS handshake; less than a worker's grace period."""

LAST_SECONDS = 2.0
"""Seconds for a request in progress at shutdown; an unfinished one is handed back, and sent again by another worker."""

PIECE = 0.25


@dataclass
class Deadline:
    """A countdown from its construction; it ends soon once `stopping` is set."""

    stopping: Event
    seconds: float = SECONDS
    began: float = field(default_factory=time.monotonic)
    shutdown_signal: float | None = field(default=None, init=False)

    def piece(self, most: float = PIECE) -> float:
        """Return the seconds to wait before the next check; raises TimeoutError, Interrupted."""
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
