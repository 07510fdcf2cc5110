"""When the queues are polled: at notifications of new entries, and at intervals, since a notification may be lost.

Intervals are short while jobs are submitted or queued, and long while the queues are idle. DBOS reads the interval of a
queue from the database before each poll. One value applies to all workers, so it is computed from what all of them
read alike: the newest job, and whether any is queued.
"""

from collections.abc import Callable, Mapping
from threading import Event, Thread
from uuid import UUID

from dbos import DBOSClient

from app.database.notifier import Notifier
from app.errors import UnavailableError
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


RETRY_SECONDS = 1.0
"""Seconds between two attempts to listen while the database is unreachable."""

JOIN_SECONDS = 2.0
"""Seconds to wait for the thread to end, unless the database blocks it."""


class EntryListener:
    """Calls `wake` whenever an entry may have been queued, in a thread from `start` until `stop`.

    A notification may be lost with its connection, so the queues are polled as well.
    """

    def __init__(self, notifier: Notifier, wake: Callable[[], None]) -> None:
        self._notifier = notifier
        self._wake = wake
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="entry-listener", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(JOIN_SECONDS)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                with self._notifier.open() as listener:
                    # What was queued before this connection listened is not notified to it.
                    self._wake()
                    while not self._stopping.is_set():
                        if listener.receive() != frozenset():
                            self._wake()
            except UnavailableError:  # the heartbeat reports outages
                self._stopping.wait(RETRY_SECONDS)
