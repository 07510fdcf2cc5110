"""Health probes, which need no key."""

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from app.http.openapi import problems
from app.http.paths import HEALTH
from app.http.readiness import Readiness, ReadinessDependency, Status
from app.http.shutdown import ShutdownDependency

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
