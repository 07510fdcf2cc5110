"""Problem responses of the HTTP server itself, before there is a request for the application."""

from collections.abc import Iterable
from http import HTTPStatus

from starlette.types import Scope

from app.http.problems import REQUEST_ID, ProblemKind, problem_response
from app.http.security_headers import SECURITY_HEADERS, encoded
from app.identity import new_request_id

MAX_PATH = 1024
"""The maximum number of characters of a path that a problem repeats."""

_SECURITY = encoded(SECURITY_HEADERS)

MALFORMED = ProblemKind(400, "malformed-request", "Malformed HTTP request")
REQUEST_TIMEOUT = ProblemKind(408, "request-timeout", "Request timeout")
URI_TOO_LONG = ProblemKind(414, "uri-too-long", "URI too long")
HEADERS_TOO_LARGE = ProblemKind(431, "headers-too-large", "Request header fields too large")


class RefusedError(Exception):
    """Raised for a request that is refused with a problem of this kind and whose connection is closed."""

    def __init__(self, kind: ProblemKind, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


def refusal(error: RefusedError, url: bytes, headers: Iterable[tuple[bytes, bytes]]) -> tuple[str, bytes]:
    """Return the id and the bytes of the response to a request for `url`, with `headers` besides its own."""
    request_id = new_request_id()
    scope: Scope = {"path": _path(url), "state": {REQUEST_ID: request_id}}
    response = problem_response(scope, error.kind, detail=error.detail)
    status = HTTPStatus(response.status_code)
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}".encode(),
        *(b"%b: %b" % field for field in (*headers, *response.raw_headers, *_SECURITY)),
        f"x-request-id: {request_id}".encode(),
        b"connection: close",
    ]
    return request_id, b"\r\n".join(lines) + b"\r\n\r\n" + bytes(response.body)


def _path(url: bytes) -> str:
    """Return the path of a request target, which may be malformed or empty."""
    path = url.partition(b"?")[0]
    return path.decode("ascii", errors="replace")[:MAX_PATH] if path.startswith(b"/") else "/"
