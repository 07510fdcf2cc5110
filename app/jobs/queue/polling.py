"""The polling intervals of the queues: short while jobs come or wait, long while nothing happens.

The engine reads a queue's interval from the database before each poll. It is one value for all workers, so it follows
from what all of them see alike: the newest job, and whether any waits.
"""

from collections.abc import Mapping
from uuid import UUID

from dbos import DBOSClient

from app.jobs.queue.failures import translated
from app.jobs.queue.names import QUEUE, SCORING_QUEUE, WEBHOOK_QUEUE
from app.jobs.records import JobActivity

QUIET_SECONDS = 10.0
"""The time after the last submission from which the intervals are long, unless a job waits."""

REWRITE_SECONDS = 60.0
"""The longest time for which an interval that another worker wrote, and did not live to change, stays."""

WEBHOOK_FACTOR = 5
"""Polls for jobs to one for webhook messages."""


def intervals(seconds: float) -> Mapping[str, float]:
    """Return each queue's polling interval, where jobs have this one."""
    return {QUEUE: seconds, SCORING_QUEUE: seconds, WEBHOOK_QUEUE: WEBHOOK_FACTOR * seconds}


class AdaptivePolling:
    """Sets the intervals of all queues from `busy` to `idle` seconds and back."""

    def __init__(self, client: DBOSClient, *, busy: float, idle: float) -> None:
        self._client = client
        self._busy = busy
        self._idle = max(busy, idle)
        self._seconds = busy  # as a worker's launch registers the queues
        self._newest: UUID | None = None
        self._active_at: float | None = None
        self._written_at = float("-inf")

    def adapt(self, activity: JobActivity, *, now: float) -> None:
        """Write the intervals where they change, and every minute; `now` is in monotonic seconds.

        Raises UnavailableError.
        """
        if self._active_at is None or activity.is_waiting or activity.newest != self._newest:
            self._newest, self._active_at = activity.newest, now
        seconds = self._busy if now - self._active_at < QUIET_SECONDS else self._idle
        if seconds != self._seconds or now - self._written_at >= REWRITE_SECONDS:
            self._write(seconds)
            self._seconds, self._written_at = seconds, now

    def _write(self, seconds: float) -> None:
        with translated():
            for name, interval in intervals(seconds).items():
                queue = self._client.retrieve_queue(name)
                if queue is not None:
                    queue.set_polling_interval_sec(interval)
