"""The documentation at `/guide`, where the site was built into the package or the checkout: `make docs`."""

from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from app.http.paths import GUIDE
from app.http.security_headers import CONTENT_SECURITY_POLICY, page_policy
from relevance_bayes.types.errors import NotFoundError

PACKAGE = Path(__file__).parents[1]
PLACES = (PACKAGE / "guide", PACKAGE.parent / "dist" / "guide")
"""The folders where the site may be: in an installed package, and in a checkout."""

router = APIRouter(include_in_schema=False)


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
