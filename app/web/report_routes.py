"""The route of reports of versions."""

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.datasets.service import Datasets
from app.http.compression import compressed_response
from app.http.conditional_requests import NOT_MODIFIED, REVALIDATED, TAGGED
from app.http.dependencies import Owner, ServicesDependency
from app.http.disconnection import run_for_client
from app.http.negotiation import accepts
from app.http.openapi import problems
from app.http.references import VersionReference
from app.http.security_headers import CONTENT_SECURITY_POLICY, HAS_POLICY
from app.prediction.served_versions import ServedVersions
from app.registry.catalogue import Catalogue
from app.web.report import Reporting
from app.web.report_document import report_policy

MEDIA_TYPE = "text/html"

report_router = APIRouter(prefix="/v1/models", tags=["Models"])


@report_router.get(
    "/{name}/versions/{version}/report",
    summary="Get the report of a version",
    response_class=Response,
    responses={
        200: {"description": "The report.", "content": {MEDIA_TYPE: {"schema": {"type": "string"}}}, **TAGGED},
        304: NOT_MODIFIED,
        **problems(404, 406),
    },
)
async def report(reference: VersionReference, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Return what the page shows of a version as one HTML file of less than 1 MB, which needs no server: a verdict,
    predictions along the inputs that change them most, effects, diagnostics, metrics and functions.

    The predictions count as predicted rows. The file has values of some training rows, ranges and categories of the
    inputs, and the name of the dataset.
    """
    if not accepts(request.headers.get("accept"), MEDIA_TYPE):
        raise HTTPException(406, f"The report is {MEDIA_TYPE}, which the Accept header does not allow.")
    reporting = Reporting(services[Catalogue], services[Datasets], services[ServedVersions])

    def respond() -> Response:
        found = reporting.of(owner, reference)
        media_type = f"{MEDIA_TYPE}; charset=utf-8"
        response = compressed_response(request, found.content, cache_control=REVALIDATED, media_type=media_type)
        response.headers["Content-Disposition"] = f'inline; filename="{found.model}-{found.version}.html"'
        return response

    response = await run_for_client(request.receive, respond)
    response.headers[CONTENT_SECURITY_POLICY] = report_policy()
    setattr(request.state, HAS_POLICY, True)
    return response
