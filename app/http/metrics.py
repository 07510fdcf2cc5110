"""The metrics of the service, for Prometheus."""

from fastapi import APIRouter, Request, Response

from app.http.dependencies import ServicesDependency
from app.http.metrics_service import Metrics
from app.http.paths import METRICS

router = APIRouter(include_in_schema=False)


@router.get(METRICS)
def metrics(request: Request, services: ServicesDependency) -> Response:
    """Return all metrics, in the text format of Prometheus or OpenMetrics."""
    text, media_type = services[Metrics].exposition(request.headers.get("accept", ""))
    return Response(text, headers={"Content-Type": media_type, "Cache-Control": "no-store"})
