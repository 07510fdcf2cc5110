"""Outages of the database, as a worker meets them: one line of the log when one begins, and one when it ends."""

import logging
import math
import time
from collections.abc import Callable
from threading import Lock

logger = logging.getLogger(__name__)

LATE_SECONDS = 10.0
"""Failures so soon after an outage has ended are its last ones."""

SUMMARY_SECONDS = 60.0
"""Between two lines about failures of connections while the database can be reached."""


class DatabaseOutage:
    """An outage of the database: the heartbeat decides, all others report failures, which are counted."""

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = Lock()
        self._began: float | None = None
        self._ended = self._summarised = -math.inf
        self._failures = 0
        self._reason = ""

    def begin(self, reason: str) -> None:
        """Note that the database can't be reached; the first time in an outage it is logged."""
        with self._lock:
            if self._began is None:
                self._began = self._now()
                logger.warning("the database is unreachable", extra={"reason": reason})
            self._failures += 1

    def report(self, reason: str) -> None:
        """Count a failure of a connection, in an outage or not; it is logged with others, if at all."""
        with self._lock:
            if self._began is not None or self._now() - self._ended > LATE_SECONDS:
                self._failures += 1
                self._reason = reason

    def end(self) -> None:
        """Note that the database can be reached; it is logged where it could not before."""
        with self._lock:
            now = self._now()
            if self._began is not None:
                seconds = round(now - self._began, 3)
                logger.info("the database is reachable again", extra={"seconds": seconds, "failures": self._failures})
                self._began, self._ended, self._failures = None, now, 0
            elif self._failures and now - self._summarised >= SUMMARY_SECONDS:
                logger.warning(
                    "connections to the database fail, though it can be reached",
                    extra={"failures": self._failures, "reason": self._reason},
                )
                self._summarised, self._failures = now, 0
