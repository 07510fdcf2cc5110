"""The running time of a job: monotonic seconds, added up over all its starts."""

import math
import time
from collections.abc import Callable

RECORD_SECONDS = 5.0
"""Between two records of a job's running time: what a start that dies has run since the last one is not counted."""


class RunningTime:
    """The seconds of the starts before this one (`earlier`) and of this one, from now on.

    Time in the queue and between two starts is no running time, and a step of the clock on the wall changes nothing.
    """

    def __init__(
        self, earlier: float = 0.0, *, limit: float = math.inf, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._earlier = earlier
        self._limit = limit
        self._now = now
        self._began = self._recorded = now()

    @property
    def seconds(self) -> float:
        """For how long the job has run."""
        return self._earlier + self._now() - self._began

    def is_over(self) -> bool:
        """Return whether the job has run for longer than it may."""
        return self.seconds > self._limit

    def record_is_due(self) -> bool:
        """Return whether the seconds should be recorded again."""
        return self._now() - self._recorded >= RECORD_SECONDS

    def recorded(self) -> None:
        """Note that the seconds were recorded now."""
        self._recorded = self._now()
