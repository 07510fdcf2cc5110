"""The routes of the page, which is links to programs, of its files and of reports of versions."""

from dataclasses import asdict, dataclass
from functools import lru_cache

from fastapi import APIRouter, Path, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app import __version__
from app.datasets.service import Datasets
from app.http.conditional_requests import NOT_MODIFIED, REVALIDATED, TAGGED
from app.http.content_encodings import StaticContent, compressed_response
from app.http.dependencies import Owner, ServicesDependency
from app.http.disconnection import run_for_client
from app.http.negotiation import accepts, to_json, weight
from app.http.openapi import DOCS, MAX_ROOTS, problems
from app.http.paths import GUIDE, INFERENCE, OWN, PAGE
from app.http.references import VersionReference
from app.http.response_headers import CONTENT_SECURITY_POLICY, HAS_POLICY, PAGE_POLICY, SECURITY_HEADERS
from app.prediction.served_versions import ServedVersions
from app.registry.catalogue import Catalogue
from app.web.report import Reporting, report_policy
from app.web.static_files import page
from relevance_bayes.records.errors import NotFoundError

FILES = "/page"
"""The path below which the files of the page are served, each below the digest of all of them."""

IMMUTABLE = "public, max-age=31536000, immutable"
"""Cache-Control of files whose path has the digest of their content."""

VARIES = {"Vary": "Accept, Accept-Encoding", "Cache-Control": "no-cache"}

router = APIRouter()


@dataclass(frozen=True)
class Links:
    """The paths of the service, below the path at which it is mounted."""

    datasets: str = f"{OWN}/datasets"
    training_jobs: str = f"{OWN}/training-jobs"
    jobs: str = f"{OWN}/jobs"
    models: str = f"{OWN}/models"
    session: str = f"{OWN}/session"
    inference: str = INFERENCE
    openapi: str = "/openapi.json"
    documentation: str = DOCS
    guide: str = GUIDE
    health: str = "/health/ready"


@dataclass(frozen=True)
class Service:
    """The service: its name, its version, and the paths of what it offers."""

    name: str
    version: str
    links: Links


_HTML = {"text/html": {"schema": {"type": "string"}}}
_RESPONSES: dict[int | str, dict[str, object]] = {
    200: {"description": "The links; to browsers, the page.", "content": _HTML},
    **problems(406),
}


@router.get(PAGE, tags=["Service"], summary="Get the page or the links", response_model=Service, responses=_RESPONSES)
async def index(request: Request) -> Response:
    """Get the page where `Accept` prefers `text/html` to JSON, as that of browsers does, else links to the API."""
    given = request.headers.getlist("accept")
    accept = ",".join(given) if given else None
    html, json = weight(accept, "text/html"), weight(accept, "application/json")
    root = request.scope.get("root_path", "")
    if html > json:
        policy = {CONTENT_SECURITY_POLICY: PAGE_POLICY}
        return _index(root).response(request, cache_control="no-cache", vary=VARIES["Vary"], headers=policy)
    if not json:
        raise HTTPException(406, "Expected application/json or text/html in the Accept header, got neither.")
    links = Links(**{name: f"{root}{path}" for name, path in asdict(Links()).items()})
    policy = {CONTENT_SECURITY_POLICY: SECURITY_HEADERS[CONTENT_SECURITY_POLICY]}
    content = to_json(Service("relevance", __version__, links))
    return Response(content, headers=policy | VARIES, media_type="application/json")


@lru_cache(MAX_ROOTS)
def _index(root: str) -> StaticContent:
    """Return the document of the page of a service that is mounted at a path."""
    document = page().index(f"{root}{FILES}/{page().digest}")
    return StaticContent.of(document.encode(), "text/html; charset=utf-8")


@router.get(f"{FILES}/{{digest}}/{{name:path}}", include_in_schema=False)
async def file(request: Request, digest: str = Path(), name: str = Path()) -> Response:
    """Return a file of the page, compressed where the browser accepts gzip.

    Caches keep it where the path has the digest of this release, and not for the page of another one, as in an upgrade.
    """
    found = page().files.get(name)
    if found is None:
        raise NotFoundError(f"The page has no file {name!r}.")
    return found.response(request, cache_control=IMMUTABLE if digest == page().digest else "no-store")


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
