"""The reaper: what a dead worker was running goes back into the queue."""

import logging
import math

from app.domain.ports import OpenUnitOfWork, Recovery

logger = logging.getLogger(__name__)


def reap(open_uow: OpenUnitOfWork, recovery: Recovery, *, limit: float, may_judge: bool) -> None:
    """Recover the work of executors that left and, if we may judge, of those not heard of for `limit` seconds.

    A heartbeat is forgotten only once nothing is left of its executor's work. Raises UnavailableError.
    """
    holders = recovery.holders()  # before the heartbeats: whoever begins in between has beaten first
    with open_uow() as uow:
        silent = set(uow.workers.silent(longer_than=limit if may_judge else math.inf))
        alive = set(uow.workers.alive(within=limit))
    # Also an executor whose heartbeat was forgotten while it was about to take a job.
    lost = holders - alive if may_judge else holders & silent
    if lost:
        logger.warning("taking over from workers that are gone", extra={"executors": sorted(lost)})
        recovery.recover(sorted(lost))
    for executor in silent - holders:
        with open_uow() as uow:
            uow.workers.forget(executor)
