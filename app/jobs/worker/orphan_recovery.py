"""Orphan recovery: jobs of dead workers are returned to the queue."""

import logging
from collections.abc import Mapping

from app.database.transaction import OpenTransaction
from app.jobs.ports import LastHeartbeat, Recovery
from app.jobs.worker_repository import WorkerRepository

logger = logging.getLogger(__name__)


class HeartbeatWatch:
    """Detects executors whose heartbeat does not change for longer than `limit`, in this worker's monotonic seconds.

    The times of heartbeats are not compared with each other, since the clocks of machines differ.
    """

    def __init__(self, *, limit: float) -> None:
        self._limit = limit
        self._seen: dict[str, tuple[LastHeartbeat, float]] = {}

    def silent(self, last_heartbeats: Mapping[str, LastHeartbeat], now: float) -> frozenset[str]:
        """Return the executors whose last heartbeat has been the same for longer than the limit."""
        before = self._seen
        self._seen = {
            executor: before[executor] if executor in before and before[executor][0] == heartbeat else (heartbeat, now)
            for executor, heartbeat in last_heartbeats.items()
        }
        return frozenset(executor for executor, (_, since) in self._seen.items() if now - since > self._limit)


def recover_orphans(
    transaction: OpenTransaction, recovery: Recovery, watch: HeartbeatWatch, *, now: float, is_reliable: bool
) -> None:
    """Recover the jobs of executors that left and, with `is_reliable`, of those without heartbeats.

    A heartbeat is deleted only once its executor holds no job. Raises UnavailableError.
    """
    holders = (
        recovery.holders()
    )  # read before the heartbeats: an executor that starts in between has recorded one first
    with transaction() as tx:
        last_heartbeats = WorkerRepository(tx).last_heartbeats()
    silent = watch.silent(last_heartbeats, now)
    gone = {executor for executor, heartbeat in last_heartbeats.items() if heartbeat.left} | (
        silent if is_reliable else frozenset()
    )
    # Also an executor whose heartbeat was forgotten while it was about to take a job.
    lost = holders - (last_heartbeats.keys() - gone) if is_reliable else holders & gone
    if lost:
        logger.warning("recovering jobs of dead workers", extra={"executors": sorted(lost)})
        recovery.recover(sorted(lost))
    for executor in gone - holders:
        with transaction() as tx:
            WorkerRepository(tx).forget(executor)
