"""When the queues are polled: at notifications of new entries, when an entry starts or ends here, and at intervals,
since a notification may be lost.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from threading import Condition, Event, Thread

from app.database.notifier import Notifier
from app.errors import UnavailableError
from app.jobs.queue.names import BY_ID

CLAIM_SECONDS = 10.0
"""Seconds after which a claimed entry that DBOS could not start leaves its slot."""


class PollWaits:
    """The waits of an engine's threads, of which each queue has one, between two polls of their queues.

    A call of `wake` ends the wait of a queue; where its thread polls at the time, it does not wait afterwards. DBOS
    counts an entry as running once a thread of its own has started it; here, it is `taken` from its claim to its end.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._woken: set[str] = set()
        self._claimed: dict[str, tuple[str, str | None, float]] = {}
        self._running: Counter[tuple[str, str | None]] = Counter()
        self.is_closed = False

    def wake(self, queues: Collection[str]) -> None:
        """Let the threads of these queues poll now."""
        with self._changed:
            self._woken.update(queues)
            self._changed.notify_all()

    def claim(self, queue: str, partition: str | None, entries: Sequence[str]) -> None:
        """Count entries of a queue as claimed until they start, or CLAIM_SECONDS have passed."""
        with self._changed:
            self._claimed |= dict.fromkeys(entries, (queue, partition, time.monotonic() + CLAIM_SECONDS))

    def start(self, entry: str, queue: str, partition: str | None) -> None:
        """Count an entry as running, and let the thread of its queue poll now: others may be claimed."""
        with self._changed:
            self._claimed.pop(entry, None)
            self._running[queue, partition] += 1
        self.wake([queue])

    def end(self, queue: str, partition: str | None) -> None:
        """Count an entry as running no more, and let the thread of its queue poll now."""
        with self._changed:
            self._running -= Counter([(queue, partition)])
        self.wake([queue])

    def taken(self, queue: str) -> Counter[str | None]:
        """Return the number of entries of a queue that were claimed here and have not ended, by partition."""
        now = time.monotonic()
        with self._changed:
            self._claimed = {entry: one for entry, one in self._claimed.items() if one[2] > now}
            taken = Counter(partition for name, partition, _ in self._claimed.values() if name == queue)
            taken.update({partition: count for (name, partition), count in self._running.items() if name == queue})
            return taken

    def close(self) -> None:
        """End the polls of all threads."""
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def wait(self, queue: str, seconds: float | None) -> None:
        """Wait for the next poll of a queue."""
        with self._changed:
            self._changed.wait_for(lambda: self.is_closed or queue in self._woken, seconds)
            self._woken.discard(queue)


RETRY_SECONDS = 1.0
"""Seconds between two attempts to listen while the database is unreachable."""

JOIN_SECONDS = 2.0
"""Seconds to wait for the thread to end, unless the database blocks it."""


class EntryListener:
    """Calls `wake` with the queues in which an entry may be new, in a thread from `start` until `stop`.

    `waiting` returns the queues that have entries, where notifications don't name them: on SQLite.

    A notification may be lost with its connection, so the queues are polled as well.
    """

    def __init__(
        self, notifier: Notifier, waiting: Callable[[], Collection[str]], wake: Callable[[Collection[str]], None]
    ) -> None:
        self._notifier = notifier
        self._waiting = waiting
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
                    self._wake(self._waiting())
                    while not self._stopping.is_set():
                        received = listener.receive()
                        if received is None or not received <= BY_ID.keys():  # SQLite, or processes of another release
                            self._wake(self._waiting())
                        elif received:
                            self._wake([BY_ID[queue_id] for queue_id in received])
            except UnavailableError:  # the heartbeat reports outages
                self._stopping.wait(RETRY_SECONDS)
