"""The parts of a process with its connections: what API and worker processes share, and what an API process has."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import sqlalchemy
from dbos import DBOSClient

from app.database import revision
from app.database.engine import file_of
from app.database.health import has_space
from app.database.monitor import DatabaseMonitor
from app.database.reachability import Reachability
from app.database.transaction import OpenTransaction
from app.errors import UnavailableError
from app.http.authentication import Authenticator
from app.http.process_heartbeat import ProcessHeartbeat
from app.http.readiness import Readiness
from app.http.timed_calls import TimedCalls
from app.jobs.queue import migrations as queue_migrations
from app.jobs.worker_repository import WorkerRepository
from app.limits.limiter import RateLimiter
from app.parts import Parts
from app.tracing.spans import Tracer

READY_AGAIN_SECONDS = 1.0
"""Seconds for which a process that can predict and train is taken to be so: several balancers probe each process, and
each probe would take transactions of the database."""

MIGRATED_AGAIN_SECONDS = 10.0
"""Seconds for which tables that the process can use are taken to be so."""

READY_SECONDS = 0.4
"""Seconds that a readiness probe waits for the database."""


@dataclass(frozen=True)
class Base:
    """The connections that API and worker processes share."""

    engine: sqlalchemy.Engine
    client: DBOSClient
    transaction: OpenTransaction
    monitor: DatabaseMonitor | None = None

    def is_migrated(self) -> bool:
        """Return whether the tables, those of the queue included, are such that this release can serve on them."""
        return revision.is_migrated(self.engine) and queue_migrations.is_migrated(self.client)

    def workers_alive(self, silence_seconds: float) -> tuple[str, ...]:
        """Return the executors ("host:id") that were not silent for so long; raises UnavailableError."""
        with self.transaction() as tx:
            return WorkerRepository(tx).alive(within=silence_seconds)

    def close(self) -> None:
        """Dispose of the engine."""
        if self.monitor is not None:
            self.monitor.close()
        self.client.destroy()
        self.engine.dispose()


@dataclass(eq=False)
class ProcessParts(Parts):
    """The parts of an API process, with its connections."""

    authenticator: Authenticator
    rate_limits: RateLimiter
    tracer: Tracer
    base: Base
    reachability: Reachability
    silence_seconds: float
    heartbeat: ProcessHeartbeat
    calls: TimedCalls = field(default_factory=TimedCalls)
    now: Callable[[], float] = time.monotonic
    _ready_at: float = float("-inf")
    _migrated_at: float = float("-inf")

    def ready(self) -> Readiness:
        """Return the readiness within READY_SECONDS; never raises while the database is unreachable."""
        without_database = Readiness(False, False, False, self.prediction.has_loaded_versions)
        if self.reachability.is_away:
            return without_database
        if self.now() - self._ready_at < READY_AGAIN_SECONDS:
            return replace(without_database, database=True, migrated=True, worker=True)
        try:
            found = self.calls.call(self._query_database, seconds=READY_SECONDS)
        except UnavailableError:
            self.reachability.suspect()
            return without_database
        return replace(found, has_loaded_versions=without_database.has_loaded_versions)

    def _query_database(self) -> Readiness:
        now = self.now()
        migrated = now - self._migrated_at < MIGRATED_AGAIN_SECONDS or self.base.is_migrated()
        if migrated and now - self._migrated_at >= MIGRATED_AGAIN_SECONDS:
            self._migrated_at = now
        worker = migrated and bool(self.base.workers_alive(self.silence_seconds))
        file = file_of(self.base.engine.url)
        space = file is None or has_space(Path(file).absolute().parent)
        found = Readiness(True, migrated, worker, has_space=space)
        if found.worker and found.has_space:
            self._ready_at = now
        return found

    def close(self) -> None:
        """Close the monitor, the listeners and the engine, and export the remaining spans."""
        self.heartbeat.close()
        self.rate_limits.close()
        self.recorder.close()
        self.watcher.close()
        self.prediction.close()
        self.metrics.close()
        self.base.close()
        self.tracer.close()
