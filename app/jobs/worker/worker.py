"""A worker: takes jobs, records heartbeats, recovers the jobs of dead workers, and hands back what it can't finish."""

import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Event, Lock, Thread
from uuid import UUID

import numpy as np

from app.database.periodic_tasks import PeriodicTasks
from app.database.transaction import OpenTransaction
from app.errors import UnavailableError
from app.jobs.queue.engine import Engine
from app.jobs.records import JobActivity, LastHeartbeat, Recovery, WorkerUse
from app.jobs.repository import JobRepository
from app.jobs.statistics_repository import BacklogRepository, WorkerRepository
from app.jobs.worker.attempts import BY_ENDING
from app.jobs.worker.job_log import JobEvent
from app.jobs.worker.pool import ChildPool
from app.jobs.worker.spool import HealthFile, Spool
from relevance_bayes.core.types import Array

ROUNDS = 5
MATRICES, SIZE = 40, 64

REFERENCE_SECONDS = 0.0100
"""CPU seconds of a round on the reference core, whose speed is 1."""


def measured_speed() -> float:
    """Return the speed of this core, as a multiple of the reference core's.

    The fastest of several rounds counts: other programs on the same machine only make a round slower.
    """
    return REFERENCE_SECONDS / max(min(_seconds_of_a_round(squares()) for _ in range(ROUNDS)), 1e-9)


def squares() -> Array:
    """Return squared distances (MATRICES, SIZE, SIZE) of points on a line, each matrix with another width."""
    points = np.linspace(0.0, 1.0, SIZE)
    widths = np.arange(1.0, MATRICES + 1.0)
    return np.asarray(np.square(points[:, None] - points) * widths[:, None, None])


def calculate(distances: Array) -> Array:
    """Return exp(-(K K^-1 L)^2) of the kernel matrix K (n, n) of these distances, with L L^T = K."""
    kernel = np.exp(-distances) + np.eye(len(distances))
    solved = np.linalg.solve(kernel, np.linalg.cholesky(kernel))
    return np.asarray(np.exp(-np.square(kernel @ solved)))


def _seconds_of_a_round(distances: Array) -> float:
    began = time.thread_time()
    for each in distances:
        calculate(each)
    return time.thread_time() - began


logger = logging.getLogger(__name__)

LATE_SECONDS = 10.0
"""Seconds after the end of an outage during which failures are counted as part of it."""

SUMMARY_SECONDS = 60.0
"""Seconds between two log events about connection failures while the database is reachable."""


class DatabaseOutage:
    """An outage of the database; the heartbeat determines its beginning and end, other failures are counted."""

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = Lock()
        self._began: float | None = None
        self._ended = self._summarised = -math.inf
        self._failures = 0
        self._reason = ""

    def begin(self, reason: str) -> None:
        """Record that the database is unreachable; logged once for each outage."""
        with self._lock:
            if self._began is None:
                self._began = self._now()
                logger.warning("the database is unreachable", extra={"reason": reason})
            self._failures += 1

    def report(self, reason: str) -> None:
        """Count a connection failure, during an outage or not; failures are logged together."""
        with self._lock:
            if self._began is not None or self._now() - self._ended > LATE_SECONDS:
                self._failures += 1
                self._reason = reason

    def end(self) -> None:
        """Record that the database is reachable; logged at the end of an outage."""
        with self._lock:
            now = self._now()
            if self._began is not None:
                seconds = round(now - self._began, 3)
                logger.info("the database is reachable again", extra={"seconds": seconds, "failures": self._failures})
                self._began, self._ended, self._failures = None, now, 0
            elif self._failures and now - self._summarised >= SUMMARY_SECONDS:
                logger.warning(
                    "connections to the database fail, though it is reachable",
                    extra={"failures": self._failures, "reason": self._reason},
                )
                self._summarised, self._failures = now, 0


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


LAST_TASK_SECONDS = 2.0
"""The maximum time that a worker waits for a running write of the audit's heads at its end."""


@dataclass(frozen=True)
class Worker:
    """A worker and its id in the queue; its parts are in the order in which they start."""

    executor: str
    spool: Spool
    pool: ChildPool
    heartbeat: Heartbeat
    health_file: HealthFile
    periodic_tasks: tuple[PeriodicTasks, ...]
    engine: Engine
    stopping: Event
    close: Callable[[], None]
    audit_heads: PeriodicTasks | None = None
    """Runs once more at the end, when the last changes of the worker are recorded."""

    def start(self, wait_for_stop: Callable[[float], bool] | None = None) -> bool:
        """Start to take jobs; return False where a stop is requested while the spool directory has no space.

        `wait_for_stop` waits for some seconds and returns whether the worker should stop; without it, it never does.
        Raises UnavailableError, UnusableSpoolError.
        """
        dead = self.spool.open_when_writable(wait_for_stop or Event().wait)
        if dead is None:
            return False
        self.pool.start()
        self.heartbeat.start(dead)
        for tasks in self._tasks:
            tasks.start()
        self.engine.launch()
        return True

    @property
    def _tasks(self) -> tuple[PeriodicTasks, ...]:
        return self.periodic_tasks if self.audit_heads is None else (*self.periodic_tasks, self.audit_heads)

    def stop(self, grace: float) -> None:
        """Take no more jobs, end every fit within `grace` seconds, and hand the jobs back at once."""
        self.engine.take_no_more()  # before fits end, and so leave slots
        self.stopping.set()
        for tasks in self._tasks:
            tasks.stop()
        self.engine.shutdown(grace)
        # Only now: once it has left, a worker takes no more entries from the queue.
        self.heartbeat.stop()
        self.pool.stop()
        self.health_file.close()
        self.spool.close()
        if self.audit_heads is not None:
            self.audit_heads.run_last(LAST_TASK_SECONDS)
        self.close()
