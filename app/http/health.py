"""The health of a process: readiness, graceful shutdown, and their probes, which need no key."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import current_thread, main_thread
from types import FrameType
from typing import Annotated, Literal

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel
from starlette.requests import Request

from app.http.dependencies import services_of
from app.http.openapi import problems
from app.http.paths import HEALTH
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


PORT_BESIDE = "port_beside"
"""The key of the lifespan's state for the port of the server beside the application; None without one."""

SHUTDOWN = "shutdown"
"""The key of the lifespan's state for the application's `Shutdown`."""


@dataclass
class Shutdown:
    """A shutdown in two steps: it is requested, which readiness probes report, then the listeners close.

    A server that accepts connections between the two sets `drains` and calls `close` itself. Otherwise `request`
    closes.
    """

    end_waits: Callable[[], None]
    """Ends the responses that wait: long polls and event streams."""

    drains: bool = False
    is_requested: bool = False
    is_closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when listeners close."""

    def request(self) -> None:
        """Begin to shut down. Idempotent; called on the event loop, as is `close`."""
        self.is_requested = True
        if not self.drains:
            self.close()

    def close(self) -> None:
        """Close the other listeners and end waiting responses. Idempotent."""
        self.is_requested = True
        self.is_closing.set()
        self.end_waits()


async def _shutdown(request: Request) -> Shutdown:
    return services_of(request)[Shutdown]


ShutdownDependency = Annotated[Shutdown, Depends(_shutdown)]


SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def on_shutdown(act: Callable[[], None]) -> Iterator[None]:
    """Have the running loop call `act` at the first termination signal, in addition to the server's own handler.

    A server waits for all requests before it sends the application the shutdown event, which is too late. Nothing is
    installed where the server has no handler, or the loop is not in the process's main thread.
    """
    if current_thread() is not main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    theirs = {number: handler for number in SIGNALS if callable(handler := signal.getsignal(number))}

    def handle(number: int, frame: FrameType | None) -> None:
        # Not called here: the interrupted code may hold the lock that `act` needs.
        loop.call_soon_threadsafe(act)
        theirs[signal.Signals(number)](number, frame)

    for number in theirs:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in theirs.items():
            if signal.getsignal(number) is handle:
                signal.signal(number, handler)


router = APIRouter(prefix=HEALTH, tags=["Health"])


class LiveOut(BaseModel):
    """The process responds."""

    status: Literal["live"] = "live"


@router.get("/live", summary="Check liveness")
async def live() -> LiveOut:
    """Respond with 200 while the process runs."""
    return LiveOut()


@router.get(
    "/ready",
    summary="Check readiness",
    responses={
        404: {"model": Readiness, "description": "Stopping, with `stopping=404`"},
        503: {"model": Readiness, "description": "Not ready"},
        **problems(422),
    },
)
async def ready(
    report: ReadinessDependency,
    shutdown: ShutdownDependency,
    response: Response,
    purpose: Annotated[
        Literal["predictions", "training"],
        Query(alias="for", description="The work that the process is to be ready for: `training` also needs a worker."),
    ] = "predictions",
    stopping: Annotated[
        Literal["404", "503"],
        Query(description="The status while the process stops: 404 for balancers that let open requests end then."),
    ] = "503",
) -> Readiness:
    """Respond with 200 while the process can predict: the database is reachable and migrated, or versions are cached.

    `for=training` needs the database, migrated and with space on its disk, and a worker. Otherwise 503, as well as from
    the beginning of a shutdown, while the process still serves requests; with `stopping=404` that is 404.
    """
    is_able = report.can_train if purpose == "training" else report.can_predict
    is_ready = is_able and not shutdown.is_requested
    if not is_ready:
        response.status_code = int(stopping) if shutdown.is_requested else 503
    status: Status = "stopping" if shutdown.is_requested else "ready" if is_ready else "not_ready"
    return replace(report, status=status)
