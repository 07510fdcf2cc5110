"""Pages of other origins: not answered unless the settings name them."""

from collections.abc import Iterable, Iterator

import pytest
from starlette.testclient import TestClient

from app.main import make_application
from tests.applications import LIMITS, SmallParts
from tests.doubles.authenticator import OneKey

ORIGIN = "https://example.org"
KEY = "a key"
PREFLIGHT = {
    "Origin": ORIGIN,
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type",
}


@pytest.fixture
def open_to_pages(parts: SmallParts) -> Iterator[TestClient]:
    """An application with a key whose answers pages of ORIGIN may read."""
    with TestClient(
        make_application(parts, LIMITS, authenticator=OneKey(KEY), cors_origins=(ORIGIN,)), base_url="http://localhost"
    ) as client:
        yield client


def of_cross_origin(headers: Iterable[str]) -> list[str]:
    return [name for name in headers if name.startswith("access-control-")]


def test_without_the_setting_no_page_may_read_a_response(client: TestClient) -> None:
    preflight = client.options("/v1/models/small/predict", headers=PREFLIGHT)
    response = client.get("/v1/models", headers={"Origin": ORIGIN})
    assert (preflight.status_code, response.status_code) == (403, 403)
    assert not of_cross_origin(preflight.headers)
    assert not of_cross_origin(response.headers)


def test_a_preflight_request_needs_no_key(open_to_pages: TestClient) -> None:
    response = open_to_pages.options("/v1/models/small/predict", headers=PREFLIGHT)
    assert response.status_code == 200
    assert response.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert "POST" in response.headers["Access-Control-Allow-Methods"]
    assert response.headers["Access-Control-Allow-Headers"] == "authorization,content-type"
    assert "Access-Control-Allow-Credentials" not in response.headers
    assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(("key", "status"), [(KEY, 200), ("wrong", 401)])
def test_pages_of_the_origin_read_responses_and_their_headers(open_to_pages: TestClient, key: str, status: int) -> None:
    response = open_to_pages.get("/v1/models/small", headers={"Origin": ORIGIN, "Authorization": f"Bearer {key}"})
    assert response.status_code == status
    assert response.headers["Access-Control-Allow-Origin"] == ORIGIN
    exposed = set(response.headers["Access-Control-Expose-Headers"].split(", "))
    assert exposed >= {"ETag", "X-Request-ID", "Retry-After", "Link", "Location", "Age", "Relevance-Stale"}


def test_pages_of_other_origins_are_refused(open_to_pages: TestClient) -> None:
    other = {**PREFLIGHT, "Origin": "https://example.com"}
    refused = open_to_pages.options("/v1/models", headers=other)
    assert refused.status_code == 400
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["x-content-type-options"] == "nosniff"
    problem = refused.json()
    assert problem["detail"] == "Disallowed CORS origin."
    assert problem["instance"] == "/v1/models"
    assert problem["request_id"] == refused.headers["x-request-id"]
    response = open_to_pages.get(
        "/v1/models", headers={"Origin": "https://example.com", "Authorization": f"Bearer {KEY}"}
    )
    assert "Access-Control-Allow-Origin" not in {**refused.headers, **response.headers}
