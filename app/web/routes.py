"""The routes of the page: `/`, which is the page to browsers and links to programs, and its files."""

import gzip
from dataclasses import asdict, dataclass

from fastapi import APIRouter, Path, Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from app import __version__
from app.http.compression import accepts_gzip
from app.http.conditional_requests import conditional_response
from app.http.documentation_pages import DOCS
from app.http.negotiation import weight
from app.http.openapi import problems
from app.http.paths import GUIDE, INFERENCE, OWN, PAGE
from app.http.rendering import to_json
from app.http.security_headers import CONTENT_SECURITY_POLICY, PAGE_POLICY, SECURITY_HEADERS
from app.web.static_files import page
from relevance_bayes.types.errors import NotFoundError

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
        document = page().index(f"{root}{FILES}/{page().digest}")
        response = HTMLResponse(document, headers={CONTENT_SECURITY_POLICY: PAGE_POLICY, **VARIES})
        return _compressed(response) if accepts_gzip(request) else response
    if not json:
        raise HTTPException(406, "Expected application/json or text/html in the Accept header, got neither.")
    links = Links(**{name: f"{root}{path}" for name, path in asdict(Links()).items()})
    policy = {CONTENT_SECURITY_POLICY: SECURITY_HEADERS[CONTENT_SECURITY_POLICY]}
    content = to_json(Service("relevance", __version__, links))
    return Response(content, headers=policy | VARIES, media_type="application/json")


@router.get(f"{FILES}/{{digest}}/{{name:path}}", include_in_schema=False)
async def file(request: Request, digest: str = Path(), name: str = Path()) -> Response:
    """Return a file of the page, compressed where the browser accepts gzip.

    Caches keep it where the path has the digest of this release, and not for the page of another one, as in an upgrade.
    """
    found = page().files.get(name)
    if found is None:
        raise NotFoundError(f"The page has no file {name!r}.")
    is_compressed = accepts_gzip(request)
    response = conditional_response(
        request,
        found.compressed if is_compressed else found.content,
        cache_control=IMMUTABLE if digest == page().digest else "no-store",
        media_type=found.media_type,
        vary="Accept-Encoding",
        tag=found.compressed_tag if is_compressed else found.tag,
    )
    if is_compressed and response.status_code == 200:
        response.headers["Content-Encoding"] = "gzip"
    return response


def _compressed(response: Response) -> Response:
    content = gzip.compress(bytes(response.body), mtime=0)
    headers = {**response.headers, "content-encoding": "gzip", "content-length": str(len(content))}
    return Response(content, headers=headers)
