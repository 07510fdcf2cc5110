"""The metrics of the service, for Prometheus."""

from anyio import to_thread
from fastapi import APIRouter, Request, Response

from app.http.dependencies import ServicesDependency, principal_of
from app.http.metrics_service import Metrics
from app.http.paths import METRICS
from app.http.problems import FORBIDDEN, problem_response
from app.identity import BUILT_IN_OWNER

router = APIRouter(include_in_schema=False)


@router.get(METRICS)
async def metrics(request: Request, services: ServicesDependency) -> Response:
    """Return all metrics, in the text format of Prometheus or OpenMetrics.

    They are of all owners: they need the scope `read` in the project `local`.
    """
    principal = principal_of(request)
    if principal.owner != BUILT_IN_OWNER:
        detail = f"Metrics are of all owners: they need the scope read in the project {BUILT_IN_OWNER!r}."
        return problem_response(request.scope, FORBIDDEN, detail=detail)
    reported, accept = services[Metrics], request.headers.get("accept", "")
    text, media_type = await to_thread.run_sync(reported.exposition, accept, limiter=reported.limiter)
    return Response(text, headers={"Content-Type": media_type, "Cache-Control": "no-store"})
