"""Readiness, as the health probes of every protocol read it."""

from collections.abc import Callable
from typing import Annotated

from anyio import CapacityLimiter, to_thread
from fastapi import Depends
from starlette.requests import Request

from app.http.dependencies import services_of
from app.http.readiness_report import Readiness

MAX_PROBES = 8
"""Probes at a time, in threads of their own: all others may be taken by requests that wait for the database."""


class ReadinessProbe:
    """Finds the readiness of a process by a function that returns within a bounded time."""

    def __init__(self, ready: Callable[[], Readiness]) -> None:
        self._ready = ready
        self._limiter = CapacityLimiter(MAX_PROBES)

    async def readiness(self) -> Readiness:
        """Return what the process is ready for now."""
        return await to_thread.run_sync(self._ready, limiter=self._limiter)


async def _readiness(request: Request) -> Readiness:
    return await services_of(request)[ReadinessProbe].readiness()


ReadinessDependency = Annotated[Readiness, Depends(_readiness)]
