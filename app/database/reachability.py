"""The reachability of the database, as last seen by this process."""

import time
from collections.abc import Callable
from threading import Condition

PROBE_SECONDS = 2
"""Seconds after which a database that does not respond counts as unreachable; libpq's shortest timeout."""


class Reachability:
    """The state of the database as this process last saw it; safe to use from many threads.

    It is suspect as soon as an operation failed or is late; optional uses of the database are then skipped. It is away
    once a probe failed; all uses are then refused at once, until the database responds again.
    `suspicions` counts the failures and delays. `now` is a monotonic clock.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.is_reachable = True
        self.is_away = False
        self.changed = Condition()
        self._now = now
        self._reached_at = now()
        self.suspicions = 0
        self.probe_began: float | None = None
        """The time at which the present probe began, by `now`; None where there is none."""

    def reached(self, suspicions: int | None = None) -> None:
        """Record that the database has just responded.

        `suspicions` is the count before the operation began; a later suspicion is not cleared by it.
        """
        self._reached_at = self._now()
        if self.is_reachable:
            return
        with self.changed:
            if suspicions in {None, self.suspicions}:
                self._become(is_reachable=True, is_away=False)

    def suspect(self) -> None:
        """Record that the database may be unreachable."""
        with self.changed:
            self.suspicions += 1
            if self.is_reachable:
                self._become(is_reachable=False, is_away=False)

    def lost(self) -> None:
        """Record that the database does not respond."""
        self._become(is_reachable=False, is_away=True)

    def seconds_since_reached(self) -> float:
        """Return the seconds since the database last responded, or since the beginning."""
        return self._now() - self._reached_at

    def is_probe_late(self, seconds: float) -> bool:
        """Return whether a probe has waited for so many seconds, in which nothing succeeded.

        SQLite waits up to 10 s for the locks of a write-ahead log, whatever its timeout.
        """
        began = self.probe_began
        return began is not None and min(self._now() - began, self.seconds_since_reached()) > seconds

    def _become(self, *, is_reachable: bool, is_away: bool) -> None:
        with self.changed:
            self.is_reachable, self.is_away = is_reachable, is_away
            self.changed.notify_all()
