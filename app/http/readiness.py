"""The readiness of a process, and its probes for every protocol."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

from anyio import CapacityLimiter, to_thread
from fastapi import Depends
from starlette.requests import Request

from app.http.dependencies import services_of
from relevance_bayes.records.annotations import wire

MAX_PROBES = 8
"""The number of concurrent probes. They have threads of their own, since requests that wait for the database may occupy
all others."""


Status = Literal["ready", "not_ready", "stopping"]


@dataclass(frozen=True)
class Readiness:
    """The readiness to serve requests, and to run trainings."""

    __pydantic_config__ = wire()

    database: bool
    """The database responds."""
    migrated: bool
    """The database has tables that this release can use."""
    worker: bool
    """A worker sent a recent heartbeat; without a worker, trainings wait."""
    has_loaded_versions: bool = False
    """Versions are cached and predict without the database."""
    has_space: bool = True
    """The disk of a database in a file has space for trainings."""
    status: Status = "not_ready"
    """The response to a probe, by the work that it names, and by whether the process stops."""

    @property
    def can_predict(self) -> bool:
        """Return whether predictions can be served, at least from cached versions."""
        return self.has_loaded_versions or (self.database and self.migrated)

    @property
    def can_train(self) -> bool:
        """Return whether trainings are accepted and will run."""
        return self.database and self.migrated and self.worker and self.has_space


class ReadinessProbe:
    """Determines the readiness of a process by a function that returns within a bounded time."""

    def __init__(self, ready: Callable[[], Readiness]) -> None:
        self._ready = ready
        self._limiter = CapacityLimiter(MAX_PROBES)

    async def readiness(self) -> Readiness:
        """Return the current readiness."""
        return await to_thread.run_sync(self._ready, limiter=self._limiter)


async def _readiness(request: Request) -> Readiness:
    return await services_of(request)[ReadinessProbe].readiness()


ReadinessDependency = Annotated[Readiness, Depends(_readiness)]
