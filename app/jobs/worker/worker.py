"""A worker: takes jobs, says that it lives, hands back what it can't end."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Protocol

from app.jobs.worker.health_file import HealthFile
from app.jobs.worker.heartbeat import Heartbeat
from app.jobs.worker.periodic_tasks import PeriodicTasks
from app.jobs.worker.pool import Pool
from app.jobs.worker.spool import Spool


class Engine(Protocol):
    """The queue that brings jobs to this process."""

    def launch(self) -> None: ...

    def shutdown(self, grace: float) -> None: ...


@dataclass(frozen=True)
class Worker:
    """Its parts, in the order in which they start."""

    spool: Spool
    pool: Pool
    heartbeat: Heartbeat
    health_file: HealthFile
    periodic_tasks: PeriodicTasks
    engine: Engine
    stopping: Event
    close: Callable[[], None]

    def start(self, wait_for_stop: Callable[[float], bool] | None = None) -> bool:
        """Begin to take jobs; False where a stop is requested while the spool directory has no space.

        `wait_for_stop` waits for some seconds and returns whether the worker is to stop: without it, never.
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
        """Take no more jobs, end every fit within `grace` seconds, and let others take over at once."""
        self.stopping.set()
        self.periodic_tasks.stop()
        self.engine.shutdown(grace)
        # Only now: a worker that has left takes nothing more from the queue.
        self.heartbeat.stop()
        self.pool.stop()
        self.health_file.close()
        self.spool.close()
        self.close()
