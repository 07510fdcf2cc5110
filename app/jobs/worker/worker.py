"""A worker: takes jobs, records heartbeats, and hands back what it can't finish."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

from app.database.periodic_tasks import PeriodicTasks
from app.jobs.queue.engine import Engine
from app.jobs.worker.health_file import HealthFile
from app.jobs.worker.heartbeat import Heartbeat
from app.jobs.worker.pool import Pool
from app.jobs.worker.spool import Spool

LAST_TASK_SECONDS = 2.0
"""The maximum time that a worker waits for a running write of the audit's heads at its end."""


@dataclass(frozen=True)
class Worker:
    """A worker and its id in the queue; its parts are in the order in which they start."""

    executor: str
    spool: Spool
    pool: Pool
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
