"""Health: for probes, without a key."""

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from app.api.dependencies import PartsDependency, ShutdownDependency

router = APIRouter(prefix="/health", tags=["Health"])


class LiveOut(BaseModel):
    """The process answers."""

    status: Literal["live"] = "live"


class ReadyOut(BaseModel):
    """Whether requests can be served, and whether trainings will run."""

    status: Literal["ready", "not_ready", "stopping"]
    database: bool = Field(description="The database answers.")
    migrated: bool = Field(description="Its tables are those of this release.")
    worker: bool = Field(description="A worker was heard of lately; without one, trainings wait.")


@router.get("/live", summary="Is the process alive?")
async def live() -> LiveOut:
    """Answers as long as the process does."""
    return LiveOut()


@router.get("/ready", summary="Can it serve?", responses={503: {"model": ReadyOut, "description": "Not ready"}})
def ready(parts: PartsDependency, shutdown: ShutdownDependency, response: Response) -> ReadyOut:
    """200 when the database is within reach and migrated, else 503; a missing worker is said, but predictions go on.

    503 too as soon as the process begins to stop, which still answers for a while.
    """
    report = parts.ready()
    is_ready = report.database and report.migrated and not shutdown.is_requested
    if not is_ready:
        response.status_code = 503
    return ReadyOut(
        status="stopping" if shutdown.is_requested else "ready" if is_ready else "not_ready",
        database=report.database,
        migrated=report.migrated,
        worker=report.worker,
    )
