"""API processes and their heartbeats, by which a migration knows the releases that are running."""

import logging
from dataclasses import dataclass

from sqlalchemy import delete

from app import __version__
from app.database.base import DatabaseNow, SecondsSince, changed, insertion
from app.database.periodic_tasks import PeriodicTasks
from app.database.revision import EXPECTED
from app.database.transaction import OpenTransaction, Transaction
from app.errors import UnavailableError
from app.http.tables import ApiProcessRow


@dataclass(frozen=True)
class _ApiProcessRepository:
    """Heartbeats of API processes, by the database's clock."""

    tx: Transaction

    def record_heartbeat(self, process: str, *, forget_seconds: float) -> None:
        """Record a heartbeat with the release of this program, and remove those that are so many seconds old, whose
        processes have died."""
        row = ApiProcessRow
        first = insertion(self.tx.session, row).values(
            process=process, heartbeat_at=DatabaseNow(), release=__version__, revision=EXPECTED
        )
        self.tx.session.execute(
            first.on_conflict_do_update(index_elements=["process"], set_={"heartbeat_at": DatabaseNow()})
        )
        changed(self.tx.session, delete(row).where(SecondsSince(row.heartbeat_at) > forget_seconds))

    def remove(self, process: str) -> None:
        """Remove the heartbeat of a process that ends."""
        changed(self.tx.session, delete(ApiProcessRow).where(ApiProcessRow.process == process))


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
                _ApiProcessRepository(tx).remove(self._process)
        except UnavailableError as error:
            logger.debug("the heartbeat of this process was not removed", extra={"reason": error.detail})

    def record(self) -> None:
        """Record a heartbeat, and remove those of processes that died long ago; raises UnavailableError."""
        with self._transaction() as tx:
            _ApiProcessRepository(tx).record_heartbeat(self._process, forget_seconds=FORGET_SECONDS)


def _report(reason: str) -> None:
    logger.debug("no heartbeat of this process", extra={"reason": reason})
