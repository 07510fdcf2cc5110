"""What every problem has to be."""

from collections.abc import Mapping, Sequence

import httpx2

TITLES = {
    "malformed-body": (400, "The body can't be read"),
    "unauthenticated": (401, "Who are you?"),
    "insufficient-scope": (403, "The API key lacks a scope"),
    "not-found": (404, "No such thing"),
    "method-not-allowed": (405, "Not with this method"),
    "not-acceptable": (406, "Not in this media type"),
    "conflict": (409, "Not in this state"),
    "in-use": (409, "Still needed"),
    "idempotency-key-in-use": (409, "The first request with this key is still being done"),
    "gone": (410, "No longer there"),
    "precondition-failed": (412, "Changed, or made, by somebody else"),
    "too-large": (413, "Above a limit"),
    "unsupported-media-type": (415, "Can't read this media type"),
    "range-not-satisfiable": (416, "Not so many bytes"),
    "invalid-request": (422, "The request makes no sense"),
    "invalid-data": (422, "The rows can't be used"),
    "idempotency-key-reused": (422, "This key came before with another request"),
    "too-many-jobs": (429, "As many jobs wait as may"),
    "unexpected": (500, "A mistake of the service"),
    "not-installed": (501, "Not installed here"),
    "unavailable": (503, "Out of reach for now"),
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
