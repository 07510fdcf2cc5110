"""Pages of other origins: refused by browsers unless the settings name their origin."""

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from app.api.idempotency import REPLAYED
from app.api.middleware import REQUEST_ID_HEADER
from app.api.security_headers import SECURITY_HEADERS

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
EXPOSED = (
    REQUEST_ID_HEADER,
    "ETag",
    "Location",
    "Link",
    "Retry-After",
    "Age",
    "Relevance-Stale",
    "Accept-Ranges",
    "Content-Range",
    "Content-Disposition",
    REPLAYED,
)
"""Headers of answers that a page may read beside those that every page may."""


class CrossOrigin(CORSMiddleware):
    """Answers preflight requests of the named origins and lets their pages read answers; cookies are never taken."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        super().__init__(
            app, allow_origins=origins, allow_methods=METHODS, allow_headers=("*",), expose_headers=EXPOSED
        )

    def preflight_response(self, request_headers: Headers) -> Response:
        """Return the answer to a preflight request, with the headers of every answer."""
        response = super().preflight_response(request_headers)
        response.headers.update(SECURITY_HEADERS)
        return response
