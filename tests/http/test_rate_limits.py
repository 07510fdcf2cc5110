"""Rates of requests and rows over HTTP, on a clock that the test moves."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from app.accounts.rate_limiter import OwnerRates
from app.errors import RateLimitError
from app.main import make_application
from relevance_bayes.records.accounts import OwnerLimits
from tests.applications import LIMITS, SmallParts
from tests.problems import assert_problem

ROW = {"rows": [{"x": 0.5, "colour": "red"}]}
PREDICT, COMPARE = "/v1/models/small/predict", "/v1/models/small/versions/1/compare"
LINE = b'{"x": 0.5, "colour": "red"}\n'
INFER = {
    "inputs": [
        {"name": "x", "datatype": "FP64", "shape": [1], "data": [0.5]},
        {"name": "colour", "datatype": "BYTES", "shape": [1], "data": ["red"]},
    ]
}


class Limiter:
    """The rates of the owner `local`."""

    def __init__(self) -> None:
        self.now = 0.0
        self.rates: OwnerRates | None = None

    def limit(self, *, requests: int | None = None, rows: int | None = None) -> None:
        self.rates = OwnerRates(OwnerLimits(requests, rows), 1, lambda: self.now)

    def of(self, owner: str) -> OwnerRates | None:
        return self.rates if owner == "local" else None


@pytest.fixture
def limiter() -> Limiter:
    return Limiter()


@pytest.fixture
def limited(parts: SmallParts, limiter: Limiter) -> Iterator[TestClient]:
    with TestClient(make_application(parts, LIMITS, rate_limits=limiter), base_url="http://localhost") as client:
        yield client


def test_requests_above_the_rate_are_refused_until_there_are_tokens(limited: TestClient, limiter: Limiter) -> None:
    limiter.limit(requests=2)
    assert [limited.get("/v1/models").status_code for _ in range(3)] == [200, 200, 429]
    response = limited.post(PREDICT, json=ROW)
    detail = "Expected at most 2 requests per second of this owner, got more: retry after 1 s."
    assert_problem(response, "rate-limit-exceeded", detail)
    assert response.headers["Retry-After"] == "1"
    assert response.headers["RateLimit-Policy"] == '"requests";q=2;w=1'
    assert response.headers["RateLimit"] == '"requests";r=0;t=1'
    limiter.now += 1.0
    assert limited.post(PREDICT, json=ROW).status_code == 200


def test_each_response_has_what_is_left(limited: TestClient, limiter: Limiter) -> None:
    limiter.limit(requests=10, rows=100)
    for left, rows in ((9, 99), (8, 98)):
        response = limited.post(PREDICT, json=ROW)
        assert response.headers["RateLimit-Policy"] == '"requests";q=10;w=1, "rows";q=100;w=1'
        assert response.headers["RateLimit"] == f'"requests";r={left};t=1, "rows";r={rows};t=1'
    assert limited.get("/v1/models").headers["RateLimit"] == '"requests";r=7;t=1, "rows";r=98;t=1'
    assert limited.get("/v1/nothing").headers["RateLimit"] == '"requests";r=6;t=1, "rows";r=98;t=1'


def test_without_limits_there_are_no_headers(limited: TestClient, limiter: Limiter) -> None:
    assert not {"ratelimit", "ratelimit-policy"} & set(limited.post(PREDICT, json=ROW).headers)
    limiter.limit(requests=1)
    for path in ("/health/ready", "/openapi.json", "/metrics", "/v2/health/ready"):
        for _ in range(3):
            response = limited.get(path)
            assert response.status_code == 200, path
            assert "ratelimit" not in response.headers


@pytest.mark.parametrize(
    ("path", "body", "media_type", "rows"),
    [
        (PREDICT, ROW, None, 1),
        ("/v1/models/small/versions/1/predict", ROW, None, 1),
        (PREDICT, 3 * LINE, "application/x-ndjson", 3),
        (PREDICT, b"x,colour\n1,red\n2,blue\n", "text/csv", 2),
        (COMPARE, {**ROW, "with": {"model": "small", "version": 1}}, None, 2),
        ("/v2/models/small/infer", INFER, None, 1),
    ],
)
def test_rows_count_in_every_format_and_protocol(
    limited: TestClient, limiter: Limiter, path: str, body: object, media_type: str | None, rows: int
) -> None:
    def send() -> int:
        if isinstance(body, bytes):
            return limited.post(path, content=body, headers={"Content-Type": media_type or ""}).status_code
        return limited.post(path, json=body).status_code

    limiter.limit(rows=1)
    assert send() == 200
    rates = limiter.rates
    assert rates is not None
    assert rates.buckets["rows"].tokens == 1 - rows
    assert send() == 429
    limiter.now += rows - 1 + 0.5
    assert send() == 200
    assert limited.get("/v1/models").status_code == 200  # only rows are limited


def test_a_refusal_of_rows_names_the_limit_in_both_protocols(limited: TestClient, limiter: Limiter) -> None:
    limiter.limit(rows=1)
    assert limited.post(PREDICT, content=5 * LINE, headers={"Content-Type": "application/x-ndjson"}).status_code == 200
    response = limited.post(PREDICT, json=ROW)
    detail = "Expected at most 1 predicted rows per second of this owner, got more: retry after 4 s."
    assert_problem(response, "rate-limit-exceeded", detail)
    assert response.headers["Retry-After"] == "4"
    assert response.headers["RateLimit"] == '"rows";r=0;t=4'
    found = limited.post("/v2/models/small/infer", json=INFER)
    assert (found.status_code, found.json()["error"], found.headers["Retry-After"]) == (429, detail, "4")


def test_a_request_after_a_limited_one_of_another_owner_has_no_limits(limiter: Limiter) -> None:
    limiter.limit(requests=1)
    rates = limiter.of("local")
    assert rates is not None
    rates.take_request()
    with pytest.raises(RateLimitError):
        rates.take_request()
    assert limiter.of("acme") is None
