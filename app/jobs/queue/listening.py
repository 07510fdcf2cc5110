"""Listening for new entries: one thread of a worker receives notifications of them; no poll has to find them."""

from collections.abc import Callable
from threading import Event, Thread

from app.database.notifier import Notifier
from app.errors import UnavailableError

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
