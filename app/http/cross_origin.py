"""Cross-origin resource sharing (CORS): only pages of the origins in the settings may read responses."""

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.idempotency import REPLAYED
from app.http.middleware import REQUEST_ID_HEADER
from app.http.problems import REQUEST_ID, ProblemKind, problem_response
from app.http.response_headers import SECURITY_HEADERS
from app.identity import new_request_id
from app.tracing.spans import TRACERESPONSE

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
EXPOSED = (
    "RateLimit",
    "RateLimit-Policy",
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
    TRACERESPONSE,
)
"""Response headers that pages may read, in addition to those that CORS always exposes."""


REFUSED = ProblemKind(400, "cross-origin-refused", "Not allowed for pages of this origin")


class CrossOrigin(CORSMiddleware):
    """Responds to preflight requests and lets pages of the given origins read responses, without cookies."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        super().__init__(
            app, allow_origins=origins, allow_methods=METHODS, allow_headers=("*",), expose_headers=EXPOSED
        )

    def preflight_response(self, request_headers: Headers) -> Response:
        """Return the response to a preflight request: 200, or a problem with status 400."""
        response = super().preflight_response(request_headers)
        response.headers.update(SECURITY_HEADERS)
        return response if response.status_code == 200 else _RefusedPreflight(response)


class _RefusedPreflight(Response):
    """The problem response to a refused preflight request; it is built when the request's scope is known."""

    def __init__(self, refused: Response) -> None:
        super().__init__(status_code=refused.status_code)
        self._detail = bytes(refused.body).decode()
        self._vary = refused.headers.get("Vary", "Origin")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = new_request_id()
        known: Scope = {"path": scope["path"], "state": {REQUEST_ID: request_id}}
        headers = {**SECURITY_HEADERS, REQUEST_ID_HEADER: request_id, "Vary": self._vary}
        problem = problem_response(known, REFUSED, detail=f"{self._detail}.", headers=headers)
        await problem(scope, receive, send)
