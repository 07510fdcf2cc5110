"""Outages of the database in a worker: one log event at the beginning of each, and one at its end."""

import logging
import math
import time
from collections.abc import Callable
from threading import Lock

logger = logging.getLogger(__name__)

LATE_SECONDS = 10.0
"""Seconds after the end of an outage during which failures are counted as part of it."""

SUMMARY_SECONDS = 60.0
"""Seconds between two log events about connection failures while the database is reachable."""


class DatabaseOutage:
    """An outage of the database; the heartbeat determines its beginning and end, other failures are counted."""

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = Lock()
        self._began: float | None = None
        self._ended = self._summarised = -math.inf
        self._failures = 0
        self._reason = ""

    def begin(self, reason: str) -> None:
        """Record that the database is unreachable; logged once for each outage."""
        with self._lock:
            if self._began is None:
                self._began = self._now()
                logger.warning("the database is unreachable", extra={"reason": reason})
            self._failures += 1

    def report(self, reason: str) -> None:
        """Count a connection failure, during an outage or not; failures are logged together."""
        with self._lock:
            if self._began is not None or self._now() - self._ended > LATE_SECONDS:
                self._failures += 1
                self._reason = reason

    def end(self) -> None:
        """Record that the database is reachable; logged at the end of an outage."""
        with self._lock:
            now = self._now()
            if self._began is not None:
                seconds = round(now - self._began, 3)
                logger.info("the database is reachable again", extra={"seconds": seconds, "failures": self._failures})
                self._began, self._ended, self._failures = None, now, 0
            elif self._failures and now - self._summarised >= SUMMARY_SECONDS:
                logger.warning(
                    "connections to the database fail, though it is reachable",
                    extra={"failures": self._failures, "reason": self._reason},
                )
                self._summarised, self._failures = now, 0
