"""The metrics of the service, for Prometheus."""

from anyio import to_thread
from fastapi import APIRouter, Request, Response

from app.http.dependencies import Owner, ServicesDependency
from app.http.metrics_service import Metrics
from app.http.paths import METRICS

router = APIRouter(include_in_schema=False)


@router.get(METRICS)
async def metrics(request: Request, owner: Owner, services: ServicesDependency) -> Response:
    """Return the metrics that an owner may read, in the text format of Prometheus or OpenMetrics."""
    reported, accept = services[Metrics], request.headers.get("accept", "")
    text, media_type = await to_thread.run_sync(reported.exposition, owner, accept, limiter=reported.limiter)
    return Response(text, headers={"Content-Type": media_type, "Cache-Control": "no-store"})
