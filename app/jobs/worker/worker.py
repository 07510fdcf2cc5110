"""A worker: takes jobs, records heartbeats, and hands back what it can't finish."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

from app.jobs.queue.engine import Engine
from app.jobs.worker.health_file import HealthFile
from app.jobs.worker.heartbeat import Heartbeat
from app.jobs.worker.periodic_tasks import PeriodicTasks
from app.jobs.worker.pool import Pool
from app.jobs.worker.spool import Spool


@dataclass(frozen=True)
class Worker:
    """A worker; its parts are in the order in which they start."""

    spool: Spool
    pool: Pool
    heartbeat: Heartbeat
    health_file: HealthFile
    periodic_tasks: PeriodicTasks
    engine: Engine
    stopping: Event
    close: Callable[[], None]

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
        self.periodic_tasks.start()
        self.engine.launch()
        return True

    def stop(self, grace: float) -> None:
        """Take no more jobs, end every fit within `grace` seconds, and hand the jobs back at once."""
        self.stopping.set()
        self.periodic_tasks.stop()
        self.engine.shutdown(grace)
        # Only now: once it has left, a worker takes no more entries from the queue.
        self.heartbeat.stop()
        self.pool.stop()
        self.health_file.close()
        self.spool.close()
        self.close()
