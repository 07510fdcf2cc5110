"""Recovery: jobs of dead workers are returned to the queue, and a job whose queue entry has ended is ended too."""

import logging
from collections.abc import Mapping
from uuid import UUID

from app.database.transaction import OpenTransaction
from app.jobs.backlog_repository import BacklogRepository
from app.jobs.ports import LastHeartbeat, Recovery
from app.jobs.repository import JobRepository
from app.jobs.worker.job_log import JobEvent
from app.jobs.worker.problems import BY_ENDING
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


MAX_AT_ONCE = 1000
"""Jobs per call: the next call continues after them, so that a long queue does not delay heartbeats."""


def reconcile_jobs(transaction: OpenTransaction, recovery: Recovery, *, after: UUID | None = None) -> UUID | None:
    """End jobs that had too many attempts, ran out of time, were cancelled or failed; raises UnavailableError.

    Jobs after the job `after` are checked, oldest first; the result is the `after` of the next call.
    """
    with transaction() as tx:
        found = BacklogRepository(tx).page(after=after, limit=MAX_AT_ONCE)
    attempts = {job_id: attempt for job_id, _, attempt in found}
    for job_id, ending in recovery.endings(list(attempts)).items():
        with transaction() as tx:
            # Another process may have ended it in between: these two then change nothing.
            if JobRepository(tx).is_cancel_requested(job_id):
                ended = JobRepository(tx).cancelled(job_id, attempts[job_id])
            else:
                ended = JobRepository(tx).fail(job_id, attempts[job_id], BY_ENDING[ending])
            job = JobRepository(tx).find(job_id) if ended else None
        if job is not None:
            JobEvent(job_id, job.kind, job.attempt).ended(job.state, job.error)
    return found[-1][0] if len(found) == MAX_AT_ONCE else None
