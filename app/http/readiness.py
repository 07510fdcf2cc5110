"""Readiness probes for every protocol."""

from collections.abc import Callable
from typing import Annotated

from anyio import CapacityLimiter, to_thread
from fastapi import Depends
from starlette.requests import Request

from app.http.dependencies import services_of
from app.http.readiness_report import Readiness

MAX_PROBES = 8
"""The number of concurrent probes. They have threads of their own, since requests that wait for the database may occupy
all others."""


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
