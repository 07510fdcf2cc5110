"""Adaptive polling intervals of the queues: short while jobs are submitted or queued, long while the queues are idle.

DBOS reads a queue's interval from the database before each poll. One value applies to all workers, so it is computed
from what all of them read alike: the newest job, and whether any is queued.
"""

from collections.abc import Mapping
from uuid import UUID

from dbos import DBOSClient

from app.jobs.queue.failures import translated
from app.jobs.queue.names import QUEUE, SCORING_QUEUE, WEBHOOK_QUEUE
from app.jobs.records import JobActivity

QUIET_SECONDS = 10.0
"""Seconds after the last submission from which the intervals are long, unless a job is queued."""

REWRITE_SECONDS = 60.0
"""Seconds between two writes of an unchanged interval, which replace that of a worker that has died."""

WEBHOOK_FACTOR = 5
"""The number of polls for jobs to one poll for webhook messages."""


def intervals(seconds: float) -> Mapping[str, float]:
    """Return each queue's polling interval, given that of jobs."""
    return {QUEUE: seconds, SCORING_QUEUE: seconds, WEBHOOK_QUEUE: WEBHOOK_FACTOR * seconds}


class AdaptivePolling:
    """Switches the intervals of all queues between `busy` and `idle` seconds."""

    def __init__(self, client: DBOSClient, *, busy: float, idle: float) -> None:
        self._client = client
        self._busy = busy
        self._idle = max(busy, idle)
        self._seconds = busy  # with which a worker registers the queues at launch
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
