"""The reachability of the database, as last seen by this process."""

import time
from collections.abc import Callable
from threading import Condition


class Reachability:
    """The state of the database as this process last saw it; safe to use from many threads.

    It is suspected as soon as something failed or is late: what can do without the database no longer waits for it. It
    is away once a monitor got no answer: then everything else is refused at once, until it answers again.
    `suspicions` are counted. `now` is a monotonic clock.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.is_reachable = True
        self.is_away = False
        self.changed = Condition()
        self._now = now
        self._reached_at = now()
        self.suspicions = 0

    def reached(self, suspicions: int | None = None) -> None:
        """Record that the database has just answered.

        `suspicions` are those before it was asked. What was asked before the last one does not clear it.
        """
        self._reached_at = self._now()
        if self.is_reachable:
            return
        with self.changed:
            if suspicions in {None, self.suspicions}:
                self._become(is_reachable=True, is_away=False)

    def suspect(self) -> None:
        """Record that the database may be away."""
        with self.changed:
            self.suspicions += 1
            if self.is_reachable:
                self._become(is_reachable=False, is_away=False)

    def lost(self) -> None:
        """Record that the database does not answer."""
        self._become(is_reachable=False, is_away=True)

    def seconds_since_reached(self) -> float:
        """Seconds since the database last answered, or since the beginning."""
        return self._now() - self._reached_at

    def _become(self, *, is_reachable: bool, is_away: bool) -> None:
        with self.changed:
            self.is_reachable, self.is_away = is_reachable, is_away
            self.changed.notify_all()
