"""The OpenAPI document, the pages of the API's reference, and the documentation at `/guide` that `make docs` builds."""

import json
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from app.http.compression import compressed_response
from app.http.conditional_requests import REVALIDATED
from app.http.paths import GUIDE
from app.http.security_headers import CONTENT_SECURITY_POLICY, page_policy
from relevance_bayes.types.errors import NotFoundError

DOCS, REDOC, OPENAPI = "/docs", "/redoc", "/openapi.json"
STATIC = "/static-offline-docs"
"""Path at which fastapi_offline serves the scripts and styles of both pages."""

router = APIRouter(include_in_schema=False)


@router.get(OPENAPI)
def openapi(request: Request) -> Response:
    """Return the OpenAPI document, which a proxy's path precedes.

    It takes the place of FastAPI's route, which builds the document on the event loop: a second during which no other
    request would be answered.
    """
    root, document = request.scope.get("root_path", ""), request.app.openapi()
    if root:
        document = {**document, "servers": [{"url": root}]}
    content = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return compressed_response(request, content.encode(), cache_control=REVALIDATED, media_type="application/json")


@router.get(DOCS)
async def swagger(request: Request) -> HTMLResponse:
    """Return Swagger UI."""
    root = request.scope.get("root_path", "")
    return _page(
        get_swagger_ui_html(
            openapi_url=f"{root}{OPENAPI}",
            title=f"{request.app.title} - Swagger UI",
            swagger_js_url=f"{root}{STATIC}/swagger-ui-bundle.js",
            swagger_css_url=f"{root}{STATIC}/swagger-ui.css",
            swagger_favicon_url=f"{root}{STATIC}/favicon.png",
        )
    )


@router.get(REDOC)
async def redoc(request: Request) -> HTMLResponse:
    """Return ReDoc."""
    root = request.scope.get("root_path", "")
    return _page(
        get_redoc_html(
            openapi_url=f"{root}{OPENAPI}",
            title=f"{request.app.title} - ReDoc",
            redoc_js_url=f"{root}{STATIC}/redoc.standalone.js",
            redoc_favicon_url=f"{root}{STATIC}/favicon.png",
            with_google_fonts=False,
        )
    )


def _page(page: HTMLResponse) -> HTMLResponse:
    page.headers[CONTENT_SECURITY_POLICY] = page_policy(bytes(page.body).decode())
    return page


PACKAGE = Path(__file__).parents[1]
PLACES = (PACKAGE / "guide", PACKAGE.parent / "dist" / "guide")
"""The folders where the site may be: in an installed package, and in a checkout."""


@router.get(GUIDE)
async def first_page(request: Request) -> RedirectResponse:
    """Redirect to the folder, since the links of the pages are relative to it."""
    return RedirectResponse(f"{request.scope.get('root_path', '')}{GUIDE}/", 307)


@router.get(f"{GUIDE}/{{name:path}}")
def page(name: str) -> Response:
    """Return a file of the site; raise NotFoundError for what is no file of it, or where no site was built."""
    folder = next((place for place in PLACES if place.is_dir()), None)
    if folder is None:
        raise NotFoundError("The guide is not installed here: `make docs` builds it from a checkout.")
    path = (folder / (name or "index.html")).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        raise NotFoundError(f"The guide has no page {name!r}.")
    if path.suffix != ".html":
        return FileResponse(path)
    html = path.read_text("utf-8")
    # The search of the site is a form.
    return HTMLResponse(html, headers={CONTENT_SECURITY_POLICY: page_policy(html, form_action="'self'")})
