"""The reaper: what a dead worker was running goes back into the queue."""

import logging
from collections.abc import Mapping

from app.domain.ports import LastHeartbeat, OpenUnitOfWork, Recovery

logger = logging.getLogger(__name__)


class Watch:
    """Who beats: whoever's last beat is another one than it was not long ago, by the watcher's own monotonic seconds.

    When a beat was, by whatever clock, decides nothing: clocks differ.
    """

    def __init__(self, *, limit: float) -> None:
        self._limit = limit
        self._seen: dict[str, tuple[LastHeartbeat, float]] = {}

    def silent(self, beats: Mapping[str, LastHeartbeat], now: float) -> frozenset[str]:
        """Executors of which nothing new was seen for longer than the limit."""
        before = self._seen
        self._seen = {
            executor: before[executor] if executor in before and before[executor][0] == beat else (beat, now)
            for executor, beat in beats.items()
        }
        return frozenset(executor for executor, (_, since) in self._seen.items() if now - since > self._limit)


def recover_orphans(open_uow: OpenUnitOfWork, recovery: Recovery, watch: Watch, *, now: float, may_judge: bool) -> None:
    """Recover the work of executors that left and, if we may judge, of those that are silent.

    A heartbeat is forgotten only once nothing is left of its executor's work. Raises UnavailableError.
    """
    holders = recovery.holders()  # before the heartbeats: whoever begins in between has beaten first
    with open_uow() as uow:
        beats = uow.workers.beats()
    silent = watch.silent(beats, now)
    gone = {executor for executor, beat in beats.items() if beat.left} | (silent if may_judge else frozenset())
    # Also an executor whose heartbeat was forgotten while it was about to take a job.
    lost = holders - (beats.keys() - gone) if may_judge else holders & gone
    if lost:
        logger.warning("taking over from workers that are gone", extra={"executors": sorted(lost)})
        recovery.recover(sorted(lost))
    for executor in gone - holders:
        with open_uow() as uow:
            uow.workers.forget(executor)
