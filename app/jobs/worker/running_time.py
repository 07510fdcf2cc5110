"""The running time of a job: monotonic seconds, summed over all its attempts."""

import math
import time
from collections.abc import Callable

RECORD_SECONDS = 5.0
"""Seconds between two records of a job's running time; what an attempt runs after its last record is not counted."""


class RunningTime:
    """The running time of earlier attempts (`earlier`) and of this one, from now on, in seconds.

    Time in the queue and between attempts does not count, and changes of the wall clock have no effect.
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
        """Return the running time of the job in seconds."""
        return self._earlier + self._now() - self._began

    def is_over(self) -> bool:
        """Return whether the running time exceeds the limit."""
        return self.seconds > self._limit

    def is_record_due(self) -> bool:
        """Return whether the running time should be recorded again."""
        return self._now() - self._recorded >= RECORD_SECONDS

    def recorded(self) -> None:
        """Note that the running time was recorded now."""
        self._recorded = self._now()
