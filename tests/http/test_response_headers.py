"""Headers that bound what a browser does with an answer: on each of them."""

import re
from base64 import b64encode
from hashlib import sha256

import httpx2
import pytest
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from app.main import make_application
from tests.applications import LIMITS, SUBMIT, SmallParts
from tests.doubles.authenticator import OneKey

API_POLICY = "default-src 'none'; frame-ancestors 'none'"


def assert_bounded(response: httpx2.Response, policy: str = API_POLICY) -> None:
    assert response.headers.get_list("Content-Security-Policy") == [policy]
    assert response.headers.get_list("X-Content-Type-Options") == ["nosniff"]
    assert response.headers.get_list("Referrer-Policy") == ["no-referrer"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/models/small", 200),
        ("GET", "/v2/models/small", 200),
        ("GET", "/health/live", 200),
        ("GET", "/openapi.json", 200),
        ("GET", "/static-offline-docs/swagger-ui.css", 200),
        ("GET", "/v1/models/small/versions/1/relevance-vectors", 200),
        ("GET", "/nothing", 404),
        ("POST", "/docs", 405),
        ("DELETE", "/v1/models", 405),
        ("HEAD", "/v1/models", 200),
        ("POST", "/v1/models/small/predict", 415),
        ("POST", "/v1/training-jobs", 415),
    ],
)
def test_every_response_has_them(client: TestClient, method: str, path: str, status: int) -> None:
    response = client.request(method, path)
    assert response.status_code == status
    assert_bounded(response)


def test_predictions_and_created_things_have_them(client: TestClient) -> None:
    rows = {"rows": [{"x": 0.5, "colour": "red"}]}
    assert_bounded(client.post("/v1/models/small/predict", json=rows))
    assert_bounded(client.post("/v1/training-jobs", json=SUBMIT))


@pytest.mark.parametrize("path", ["/", "/docs", "/redoc", "/openapi.json"])
def test_what_a_browser_has_already_keeps_its_policy(client: TestClient, path: str) -> None:
    """A browser takes the headers of a response without content in place of those that it has stored."""
    headers = {"Accept": "text/html, */*;q=0.1"}
    first = client.get(path, headers=headers)
    again = client.get(path, headers={**headers, "If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code) == (200, 304)
    assert_bounded(again, first.headers["Content-Security-Policy"])


def test_mistakes_of_the_service_have_them(parts: SmallParts, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down() -> None:
        raise RuntimeError

    monkeypatch.setattr(parts, "ready", break_down)
    with (
        TestClient(
            make_application(parts, LIMITS), raise_server_exceptions=False, base_url="http://localhost"
        ) as client,
        capture_logs(),
    ):
        response = client.get("/health/ready")
    assert response.status_code == 500
    assert_bounded(response)


def test_responses_to_those_without_the_key_have_them(parts: SmallParts) -> None:
    response = TestClient(
        make_application(parts, LIMITS, authenticator=OneKey("key")), base_url="http://localhost"
    ).get("/v1/models")
    assert response.status_code == 401
    assert_bounded(response)


@pytest.mark.parametrize("root", ["", "/models"])
@pytest.mark.parametrize("page", ["/docs", "/redoc"])
def test_pages_run_their_own_scripts_and_no_others(parts: SmallParts, page: str, root: str) -> None:
    response = TestClient(make_application(parts, LIMITS), root_path=root, base_url="http://localhost").get(
        f"{root}{page}"
    )
    inline = re.findall(r"<script>(.*?)</script>", response.text, re.DOTALL)
    hashes = {f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in inline}
    (policy,) = response.headers.get_list("Content-Security-Policy")
    directives = {name: set(values) for name, *values in map(str.split, policy.split(";"))}
    assert directives["script-src"] == {"'self'", *hashes}
    assert directives["default-src"] == directives["frame-ancestors"] == {"'none'"}
    assert "https:" not in policy
    assert len(inline) == (1 if page == "/docs" else 0)
    assert not re.search(r"\son\w+=|javascript:", response.text)
    assert_bounded(response, policy)
