"""The heartbeat of a worker; its thread also recovers the jobs of dead workers and reconciles lost jobs."""

import logging
import time
from collections.abc import Callable, Iterable
from threading import Event, Thread
from uuid import UUID

from app.database.transaction import OpenTransaction
from app.errors import UnavailableError
from app.jobs.backlog_repository import BacklogRepository
from app.jobs.ports import Recovery, WorkerUse
from app.jobs.records import JobActivity
from app.jobs.worker.orphan_recovery import HeartbeatWatch, reconcile_jobs, recover_orphans
from app.jobs.worker.outage import DatabaseOutage
from app.jobs.worker.speed import measured_speed
from app.jobs.worker_repository import WorkerRepository

logger = logging.getLogger(__name__)

EXTRA_HEARTBEATS = 2
"""Heartbeats without a gap, in addition to the limit, before a worker may declare other workers dead."""

HEARTBEATS_PER_IDLE_CHECK = 5
"""Heartbeats per check of other workers and lost jobs, while every job has ended."""


class HeartbeatStreak:
    """The duration of heartbeats without a gap, by two clocks, one of which stops while a machine sleeps."""

    def __init__(self, *, interval: float, limit: float) -> None:
        self._gap = max(limit / 2, interval)
        self._needed = limit + EXTRA_HEARTBEATS * interval
        self._began = self._last = (float("-inf"), float("-inf"))

    def record(self, now: tuple[float, float]) -> None:
        """Record a heartbeat at `now`: monotonic seconds, and seconds of the wall clock."""
        if max(abs(here - there) for here, there in zip(now, self._last, strict=True)) > self._gap:
            self._began = now
        self._last = now

    @property
    def is_reliable(self) -> bool:
        """True where a worker without heartbeats is dead: neither this worker nor the database had an outage."""
        return self._last[0] - self._began[0] >= self._needed


class Heartbeat:
    """Records heartbeats in a thread from `start` until `stop`; if the thread fails, `broken` is called.

    Each heartbeat has the worker's `use`. `on_heartbeat` is called after each that the database has confirmed.
    """

    def __init__(
        self,
        transaction: OpenTransaction,
        recovery: Recovery,
        *,
        executor: str,
        interval: float,
        limit: float,
        broken: Callable[[], None],
        on_heartbeat: Callable[[], None],
        outage: DatabaseOutage | None = None,
        measure_speed: Callable[[], float] = measured_speed,
        use: Callable[[], WorkerUse] | None = None,
    ) -> None:
        self._transaction = transaction
        self._recovery = recovery
        self._executor = executor
        self._interval = interval
        self._watch = HeartbeatWatch(limit=limit)
        self._broken = broken
        self._on_heartbeat = on_heartbeat
        self._outage = outage or DatabaseOutage()
        self._measure_speed = measure_speed
        self._use = use
        self._speed: float | None = None
        self._streak = HeartbeatStreak(interval=interval, limit=limit)
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self, dead: Iterable[str] = ()) -> None:
        """Measure this worker's speed, record a heartbeat with it, mark executors that are known to be `dead` as left,
        and start the thread.

        Raises UnavailableError when the first heartbeat can't be recorded.
        """
        self._speed = self._measure_speed()
        self._record_heartbeat()
        with self._transaction() as tx:
            for executor in dead:
                WorkerRepository(tx).leave(executor)
        self._thread.start()

    def stop(self) -> None:
        """End the thread, and record that this worker has left and handed its jobs back."""
        self._stopping.set()
        self._thread.join()
        try:
            with self._transaction() as tx:
                WorkerRepository(tx).leave(self._executor)
        except UnavailableError:
            logger.warning(
                "the departure of this worker was not recorded; others will recover its jobs",
                extra={"executor": self._executor},
            )

    def _run(self) -> None:
        reconciled: UUID | None = None
        recorded = 0
        try:
            while not self._stopping.wait(self._interval):
                try:
                    activity = self._record_heartbeat()
                    if activity.is_unfinished or recorded % HEARTBEATS_PER_IDLE_CHECK == 0:
                        self._recover_orphans()
                        reconciled = reconcile_jobs(self._transaction, self._recovery, after=reconciled)
                    recorded += 1
                except UnavailableError as error:
                    self._outage.begin(error.detail)
                else:
                    self._outage.end()
        finally:
            if not self._stopping.is_set():
                self._broken()

    def _recover_orphans(self) -> None:
        recover_orphans(
            self._transaction, self._recovery, self._watch, now=time.monotonic(), is_reliable=self._streak.is_reliable
        )

    def _record_heartbeat(self) -> JobActivity:
        with self._transaction() as tx:
            use = None if self._use is None else self._use()
            WorkerRepository(tx).record_heartbeat(self._executor, speed=self._speed, use=use)
            activity = BacklogRepository(tx).activity()
        self._streak.record((time.monotonic(), time.time()))
        self._on_heartbeat()
        return activity
