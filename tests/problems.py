"""Properties of every problem."""

from collections.abc import Mapping, Sequence

import httpx2

TITLES = {
    "malformed-body": (400, "Malformed body"),
    "unauthenticated": (401, "Unauthenticated"),
    "insufficient-scope": (403, "Insufficient scope"),
    "cross-site-request": (403, "Cross-site request"),
    "quota-exceeded": (403, "Quota exceeded"),
    "not-found": (404, "Not found"),
    "method-not-allowed": (405, "Method not allowed"),
    "not-acceptable": (406, "Not acceptable"),
    "conflict": (409, "Conflict"),
    "in-use": (409, "Resource in use"),
    "idempotency-key-in-use": (409, "Idempotency key in use"),
    "gone": (410, "Gone"),
    "precondition-failed": (412, "Precondition failed"),
    "too-large": (413, "Content too large"),
    "unsupported-media-type": (415, "Unsupported media type"),
    "range-not-satisfiable": (416, "Range not satisfiable"),
    "misdirected-request": (421, "Misdirected request"),
    "invalid-request": (422, "Invalid request"),
    "invalid-data": (422, "Invalid data"),
    "idempotency-key-reused": (422, "Idempotency key reused"),
    "too-many-jobs": (429, "Too many unfinished jobs"),
    "rate-limit-exceeded": (429, "Rate limit exceeded"),
    "training-time-exceeded": (429, "Training time exceeded"),
    "unexpected": (500, "Internal error"),
    "not-installed": (501, "Not installed"),
    "insufficient-storage": (507, "Insufficient storage"),
    "unavailable": (503, "Service unavailable"),
}


def assert_problem(
    response: httpx2.Response, slug: str, detail: str, errors: Sequence[Mapping[str, str | int]] = ()
) -> None:
    """Assert that an answer is this problem, to the last member."""
    status, title = TITLES[slug]
    assert response.json() == {
        "type": f"/problems/{slug}",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": response.request.url.path,
        "errors": list(errors),
        "request_id": response.headers["X-Request-ID"],
    }
    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/problem+json"
