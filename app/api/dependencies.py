"""Dependencies of routes: the application's parts and limits, and the owner."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol
from uuid import UUID

from anyio import to_thread
from fastapi import Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request

from app.api.decompression import Decompressor, expanded
from app.api.job_waiter import JobWaiter
from app.api.negotiation import media_type_of
from app.api.prediction import PredictionRunner
from app.api.raw_route import body_of
from app.api.readiness import ReadinessProbe
from app.api.shutdown import Shutdown
from app.domain.readiness import Readiness
from app.services.aliases import Aliases
from app.services.annotations import Annotations
from app.services.batch_predictions import BatchPredictions
from app.services.catalogue import Catalogue
from app.services.exporting import Exporting
from app.services.idempotency import Idempotency
from app.services.importing import Importing
from app.services.ingest import Ingest
from app.services.job_watcher import JobWatcher
from app.services.jobs import Jobs
from app.services.scoring import Scoring
from app.services.served_versions import ServedVersions
from app.services.training import Training
from app.services.webhooks import Webhooks
from relevance_bayes.types.errors import NotFoundError


class Parts(Protocol):
    """The parts that the application was built from."""

    @property
    def ingest(self) -> Ingest: ...

    @property
    def idempotency(self) -> Idempotency: ...

    @property
    def catalogue(self) -> Catalogue: ...

    @property
    def aliases(self) -> Aliases: ...

    @property
    def annotations(self) -> Annotations: ...

    @property
    def exporting(self) -> Exporting: ...

    @property
    def importing(self) -> Importing: ...

    @property
    def jobs(self) -> Jobs: ...

    @property
    def training(self) -> Training: ...

    @property
    def scoring(self) -> Scoring: ...

    @property
    def batch_predictions(self) -> BatchPredictions: ...

    @property
    def prediction(self) -> ServedVersions: ...

    @property
    def watcher(self) -> JobWatcher: ...

    @property
    def webhooks(self) -> Webhooks: ...

    def ready(self) -> Readiness: ...


@dataclass(frozen=True)
class Limits:
    """The limits of HTTP requests."""

    max_upload_bytes: int
    max_body_bytes: int
    max_rows: int
    max_columns: int
    max_prediction_rows: int
    spool_directory: Path | None


def parts_of(request: Request) -> Parts:
    """The application's parts."""
    parts: Parts = request.app.state.parts
    return parts


def limits_of(request: Request) -> Limits:
    """The application's limits."""
    limits: Limits = request.app.state.limits
    return limits


def job_waiter_of(request: Request) -> JobWaiter:
    """Return what the application's requests wait for jobs with."""
    job_waiter: JobWaiter = request.app.state.job_waiter
    return job_waiter


def runner_of(request: Request) -> PredictionRunner:
    """The application's predictions."""
    runner: PredictionRunner = request.app.state.predictions
    return runner


def owner_of(request: Request) -> str:
    """Who is asking, as the API key middleware found."""
    owner: str = request.state.owner
    return owner


async def _parts(request: Request) -> Parts:
    return parts_of(request)


async def _job_waiter(request: Request) -> JobWaiter:
    return job_waiter_of(request)


async def _readiness(request: Request) -> Readiness:
    probe: ReadinessProbe = request.app.state.readiness
    return await probe.readiness()


async def _shutdown(request: Request) -> Shutdown:
    shutdown: Shutdown = request.app.state.shutdown
    return shutdown


async def _owner(request: Request) -> str:
    return owner_of(request)


def require_json(request: Request) -> None:
    """Raise 415 unless the body claims to be JSON: a form in a page of another site could claim nothing of the kind."""
    media_type = media_type_of(request.headers.get("content-type", ""))
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise HTTPException(415, f"Expected application/json, got {media_type or 'no Content-Type'}.")


def content_encoding_of(request: Request) -> str:
    """Return the request's Content-Encoding, empty where the body is not encoded; raise 415 for an unknown one."""
    encodings = request.headers.getlist("content-encoding")
    if not encodings:
        return ""
    encoding = ",".join(encodings)
    return encoding if Decompressor(encoding, 0).is_needed else ""


async def unpacked_body_of(request: Request) -> bytes:
    """Return the whole body without its Content-Encoding; raise what `content_encoding_of` and `expanded` do."""
    encoding = content_encoding_of(request)
    body = await body_of(request.receive)
    if not encoding:
        return body
    return await to_thread.run_sync(expanded, body, encoding, limits_of(request).max_body_bytes)


async def json_body_of(request: Request) -> bytes:
    """The body of a request that claims to be JSON."""
    require_json(request)
    return await unpacked_body_of(request)


# Async, because a plain function would cost each request a trip through the threadpool.
PartsDependency = Annotated[Parts, Depends(_parts)]
JobWaiterDependency = Annotated[JobWaiter, Depends(_job_waiter)]
ReadinessDependency = Annotated[Readiness, Depends(_readiness)]
ShutdownDependency = Annotated[Shutdown, Depends(_shutdown)]
Owner = Annotated[str, Depends(_owner)]
JsonBody = Annotated[bytes, Depends(json_body_of)]


def identifier(text: str, noun: str) -> UUID:
    """An id from a path; what is no id names nothing. Raises NotFoundError."""
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFoundError(f"There is no {noun} {text!r}.") from error
