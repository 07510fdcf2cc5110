"""The heartbeat of an API process, by which a migration knows the releases that are running."""

import logging

from app.database.periodic_tasks import PeriodicTasks
from app.database.transaction import OpenTransaction
from app.errors import UnavailableError
from app.http.process_repository import ApiProcessRepository

logger = logging.getLogger(__name__)

FORGET_SECONDS = 3_600.0
"""The age of a heartbeat at which another process removes it: its process has died."""

END_SECONDS = 5.0
"""The maximum time that a process waits at its end for a heartbeat that is being recorded."""


class ProcessHeartbeat:
    """Records a heartbeat every `interval` seconds from `start` until `close`, which removes it.

    It is left out while the database is unreachable or is not migrated.
    """

    def __init__(self, transaction: OpenTransaction, *, process: str, interval: float) -> None:
        self._transaction = transaction
        self._process = process
        self._tasks = PeriodicTasks((self.record,), every=interval, report=_report, name="process-heartbeat")

    def start(self) -> None:
        """Start the thread that records them."""
        self._tasks.start()

    def close(self) -> None:
        """End the thread, and remove the heartbeat, unless the database is unreachable."""
        self._tasks.stop()
        if not self._tasks.has_ended(END_SECONDS):
            return
        try:
            with self._transaction() as tx:
                ApiProcessRepository(tx).remove(self._process)
        except UnavailableError as error:
            logger.debug("the heartbeat of this process was not removed", extra={"reason": error.detail})

    def record(self) -> None:
        """Record a heartbeat, and remove those of processes that died long ago; raises UnavailableError."""
        with self._transaction() as tx:
            ApiProcessRepository(tx).record_heartbeat(self._process, forget_seconds=FORGET_SECONDS)


def _report(reason: str) -> None:
    logger.debug("no heartbeat of this process", extra={"reason": reason})
