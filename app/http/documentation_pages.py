"""The OpenAPI document, the pages of the API's reference, and the documentation at `/guide` that `make docs` builds."""

import json
from functools import lru_cache
from mimetypes import guess_type
from pathlib import Path
from threading import Lock

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from starlette.responses import RedirectResponse, Response

from app.http.compression import StaticContent
from app.http.conditional_requests import REVALIDATED
from app.http.paths import GUIDE
from app.http.security_headers import CONTENT_SECURITY_POLICY, page_policy
from relevance_bayes.records.errors import NotFoundError

DOCS, REDOC, OPENAPI = "/docs", "/redoc", "/openapi.json"
STATIC = "/static-offline-docs"
"""Path at which fastapi_offline serves the scripts and styles of both pages."""

router = APIRouter(include_in_schema=False)


MAX_ROOTS = 8
"""The number of paths at which the service is mounted, by its proxies, whose documents are kept."""

MAX_FILES_OF_GUIDE = 128
"""The number of files of the guide that are kept."""

BUILDING = Lock()
"""Held while the OpenAPI document is built, so that concurrent first requests build it once."""

HTML = "text/html; charset=utf-8"


@lru_cache(MAX_ROOTS)
def _document(app: FastAPI, root: str) -> StaticContent:
    """Return the OpenAPI document of the service at a path, which is built once."""
    document = app.openapi()
    if root:
        document = {**document, "servers": [{"url": root}]}
    content = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return StaticContent.of(content.encode(), "application/json")


@router.get(OPENAPI)
def openapi(request: Request) -> Response:
    """Return the OpenAPI document, which a proxy's path precedes.

    It takes the place of FastAPI's route, which builds the document on the event loop: a second during which no other
    request would be answered.
    """
    with BUILDING:
        document = _document(request.app, request.scope.get("root_path", ""))
    return document.response(request, cache_control=REVALIDATED)


@router.get(DOCS)
async def swagger(request: Request) -> Response:
    """Return Swagger UI."""
    return _page(request, _swagger(request.scope.get("root_path", ""), request.app.title))


@lru_cache(MAX_ROOTS)
def _swagger(root: str, title: str) -> StaticContent:
    page = get_swagger_ui_html(
        openapi_url=f"{root}{OPENAPI}",
        title=f"{title} - Swagger UI",
        swagger_js_url=f"{root}{STATIC}/swagger-ui-bundle.js",
        swagger_css_url=f"{root}{STATIC}/swagger-ui.css",
        swagger_favicon_url=f"{root}{STATIC}/favicon.png",
    )
    return StaticContent.of(bytes(page.body), HTML)


@router.get(REDOC)
async def redoc(request: Request) -> Response:
    """Return ReDoc."""
    return _page(request, _redoc(request.scope.get("root_path", ""), request.app.title))


@lru_cache(MAX_ROOTS)
def _redoc(root: str, title: str) -> StaticContent:
    page = get_redoc_html(
        openapi_url=f"{root}{OPENAPI}",
        title=f"{title} - ReDoc",
        redoc_js_url=f"{root}{STATIC}/redoc.standalone.js",
        redoc_favicon_url=f"{root}{STATIC}/favicon.png",
        with_google_fonts=False,
    )
    return StaticContent.of(bytes(page.body), HTML)


def _page(request: Request, content: StaticContent, *, form_action: str = "'none'") -> Response:
    """Return a page, whose scripts are its own."""
    policy = {CONTENT_SECURITY_POLICY: _policy(content.content, form_action)}
    return content.response(request, cache_control=REVALIDATED, headers=policy)


@lru_cache(MAX_FILES_OF_GUIDE)
def _policy(html: bytes, form_action: str) -> str:
    return page_policy(html.decode(), form_action=form_action)


PACKAGE = Path(__file__).parents[1]
PLACES = (PACKAGE / "guide", PACKAGE.parent / "dist" / "guide")
"""The folders where the site may be: in an installed package, and in a checkout."""


@router.get(GUIDE)
async def first_page(request: Request) -> RedirectResponse:
    """Redirect to the folder, since the links of the pages are relative to it."""
    return RedirectResponse(f"{request.scope.get('root_path', '')}{GUIDE}/", 307)


@router.get(f"{GUIDE}/{{name:path}}")
def page(request: Request, name: str) -> Response:
    """Return a file of the site; raise NotFoundError for what is no file of it, or where no site was built."""
    folder = next((place for place in PLACES if place.is_dir()), None)
    if folder is None:
        raise NotFoundError("The guide is not installed here: `make docs` builds it from a checkout.")
    path = (folder / (name or "index.html")).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        raise NotFoundError(f"The guide has no page {name!r}.")
    file = _file(path, path.stat().st_mtime_ns)
    if file.media_type == HTML:
        return _page(request, file, form_action="'self'")  # the search of the site is a form
    return file.response(request, cache_control=REVALIDATED)


@lru_cache(MAX_FILES_OF_GUIDE)
def _file(path: Path, _changed_at: int) -> StaticContent:
    """Return a file of the site, as of the time of its last change."""
    media_type = guess_type(path.name)[0] or "application/octet-stream"
    charset = "; charset=utf-8" if media_type.startswith("text/") else ""
    return StaticContent.of(path.read_bytes(), media_type + charset)
