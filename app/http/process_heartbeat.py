"""The heartbeat of an API process, by which a migration knows the releases that are running."""

import logging
from threading import Event, Thread

from app.database.transaction import OpenTransaction
from app.errors import UnavailableError
from app.http.process_repository import ApiProcessRepository

logger = logging.getLogger(__name__)

FORGET_SECONDS = 3_600.0
"""The age of a heartbeat at which another process removes it: its process has died."""


class ProcessHeartbeat:
    """Records a heartbeat every `interval` seconds in a thread from `start` until `close`, which removes it.

    It is left out while the database is unreachable or is not migrated.
    """

    def __init__(self, transaction: OpenTransaction, *, process: str, interval: float) -> None:
        self._transaction = transaction
        self._process = process
        self._interval = interval
        self._stopping = Event()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = Thread(target=self._run, name="process-heartbeat", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread, and remove the heartbeat, unless the database is unreachable."""
        if self._thread is None:
            return
        self._stopping.set()
        self._thread.join()
        try:
            with self._transaction() as tx:
                ApiProcessRepository(tx).remove(self._process)
        except UnavailableError as error:
            logger.debug("the heartbeat of this process was not removed", extra={"reason": error.detail})

    def record(self) -> None:
        """Record a heartbeat, and remove those of processes that died long ago; raises UnavailableError."""
        with self._transaction() as tx:
            ApiProcessRepository(tx).record_heartbeat(self._process, forget_seconds=FORGET_SECONDS)

    def _run(self) -> None:
        while True:
            try:
                self.record()
            except UnavailableError as error:
                logger.debug("no heartbeat of this process", extra={"reason": error.detail})
            if self._stopping.wait(self._interval):
                return
