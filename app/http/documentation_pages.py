"""Swagger UI and ReDoc, from files that this service serves itself."""

from fastapi import APIRouter, Request
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from starlette.responses import HTMLResponse

from app.http.security_headers import CONTENT_SECURITY_POLICY, page_policy

DOCS, REDOC = "/docs", "/redoc"
STATIC = "/static-offline-docs"
"""Path at which fastapi_offline serves the scripts and styles of both pages."""

router = APIRouter(include_in_schema=False)


@router.get(DOCS)
async def swagger(request: Request) -> HTMLResponse:
    """Return Swagger UI."""
    root = request.scope.get("root_path", "")
    return _page(
        get_swagger_ui_html(
            openapi_url=f"{root}/openapi.json",
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
            openapi_url=f"{root}/openapi.json",
            title=f"{request.app.title} - ReDoc",
            redoc_js_url=f"{root}{STATIC}/redoc.standalone.js",
            redoc_favicon_url=f"{root}{STATIC}/favicon.png",
            with_google_fonts=False,
        )
    )


def _page(page: HTMLResponse) -> HTMLResponse:
    page.headers[CONTENT_SECURITY_POLICY] = page_policy(bytes(page.body).decode())
    return page
