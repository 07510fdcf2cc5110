"""The background refresh of cached names."""

import logging
import time
from collections.abc import Callable
from threading import Event, Lock, Thread

from app.database.notifier import Notifier
from app.errors import UnavailableError

logger = logging.getLogger(__name__)

REFRESH_SECONDS = 0.3
"""Seconds after which names are refreshed without a notification, since one may be lost."""

REST_SECONDS = 10.0
"""Between two calls while nothing is wanted: no connection is held then."""

MIN_SECONDS = 0.05
"""Between two times, however much happens."""

PAUSES = (0.1, 0.5, 1.0)
"""Seconds until the next try to listen, after each one that failed; the last for all that follow."""

JOIN_SECONDS = 2.0


class BackgroundRefresh:
    """Calls `refresh` on each notification, and every REFRESH_SECONDS (REST_SECONDS after it returns False).

    No thread runs before `begin`.
    """

    def __init__(self, notifier: Notifier, refresh: Callable[[], bool]) -> None:
        self._notifier = notifier
        self._refresh = refresh
        self._lock = Lock()
        self._stopped = Event()
        self._woken = Event()
        self._thread: Thread | None = None

    def begin(self) -> None:
        """Start or wake the thread; no effect once closed."""
        self._woken.set()
        with self._lock:
            if self._stopped.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = Thread(target=self._run, name="refresher", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop the thread."""
        self._stopped.set()
        self._woken.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(JOIN_SECONDS)

    def _run(self) -> None:
        failures = 0
        while not self._stopped.is_set():
            try:
                self._woken.clear()
                if self._refresh():
                    self._follow()
                failures = 0
                self._woken.wait(REST_SECONDS)
            except UnavailableError as error:
                if failures == 0:
                    logger.debug("changes of models can't be listened to", extra={"reason": error.detail})
                self._stopped.wait(PAUSES[min(failures, len(PAUSES) - 1)])
                failures += 1

    def _follow(self) -> None:
        """Refresh until closed."""
        with self._notifier.open() as listener:
            # Changes before this connection listened are not notified.
            required, renewed = self._refresh(), time.monotonic()
            while required and not self._stopped.is_set():
                received = listener.receive()
                if received is None or received or time.monotonic() - renewed > REFRESH_SECONDS:
                    required, renewed = self._refresh(), time.monotonic()
                    self._stopped.wait(MIN_SECONDS)
