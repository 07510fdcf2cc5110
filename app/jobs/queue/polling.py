"""When the queues are polled: at notifications of new entries, and at intervals, since a notification may be lost.

Intervals are short while jobs are submitted or queued, and long while the queues are idle. DBOS reads the interval of a
queue from the database before each poll. One value applies to all workers, so it is computed from what all of them
read alike: the newest job, and whether any is queued.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from threading import Condition, Event, Thread, local
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


CLAIM_SECONDS = 10.0
"""Seconds after which a claimed entry that DBOS could not start leaves its slot."""


class PollWaits:
    """The waits of an engine's threads between two polls of their queues.

    A call of `wake` ends all of them; one that polls at the time does not wait afterwards. DBOS counts an entry as
    running once a thread of its own has started it: until then, it is one that is `claimed`.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._wakes = 0
        self._claimed: dict[str, tuple[str, float]] = {}
        self._thread = local()
        self.is_closed = False

    def wake(self) -> None:
        """Let each thread poll now."""
        with self._changed:
            self._wakes += 1
            self._changed.notify_all()

    def claim(self, queue: str, entries: Sequence[str]) -> None:
        """Count entries of a queue as claimed until they start, or CLAIM_SECONDS have passed."""
        with self._changed:
            self._claimed |= dict.fromkeys(entries, (queue, time.monotonic() + CLAIM_SECONDS))

    def start(self, entry: str) -> None:
        """Count an entry as claimed no more, and let each thread poll now: others may be claimed beside it."""
        with self._changed:
            self._claimed.pop(entry, None)
        self.wake()

    def claimed(self, queue: str) -> int:
        """Return the number of entries of a queue that were claimed and have not started."""
        now = time.monotonic()
        with self._changed:
            self._claimed = {entry: one for entry, one in self._claimed.items() if one[1] > now}
            return sum(name == queue for name, _ in self._claimed.values())

    def close(self) -> None:
        """End the polls of all threads."""
        self.is_closed = True
        self.wake()

    def wait(self, seconds: float | None) -> None:
        """Wait for the next poll of this thread."""
        with self._changed:
            seen = getattr(self._thread, "seen", 0)
            self._changed.wait_for(lambda: self._wakes != seen, seconds)
            self._thread.seen = self._wakes


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
