"""docs/reference/endpoints has every endpoint as the service describes it, each with a request that was recorded."""

import pytest

from tests.docs.endpoints import FOLDER, document, endpoints_of, pages
from tests.docs.members import Object
from tests.docs.shortened import WIDTH, Json, full, shortened

WITHOUT_EXAMPLE = {
    "GET /v1/datasets/{dataset_id}/image",
    "GET /v1/jobs/events",
    "GET /v1/models/{name}/versions/{version}/image",
    "GET /v1/models/{name}/versions/{version}/report",
    "DELETE /v1/projects/{name}",
    "POST /v1/batch-predictions/{job_id}/cancel",
    "POST /v1/evaluations/{job_id}/cancel",
    "POST /v1/models/{name}/versions",
    "POST /v1/promotions/{job_id}/cancel",
    "POST /v1/promotions/{job_id}/retry",
    "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
    "PUT /v1/projects/{name}",
}
"""Endpoints of which no success is recorded: it would depend on the moment or on another owner, or has no JSON."""


@pytest.fixture(scope="module")
def openapi() -> Object:
    return document()


def test_the_pages_are_those_of_the_openapi_document(openapi: Object) -> None:
    written = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.md")}
    assert written == pages(openapi), "`python -m tests.docs.endpoints` writes them"


def test_every_endpoint_has_a_request_with_its_response(openapi: Object) -> None:
    endpoints = [endpoint for some in endpoints_of(openapi).values() for endpoint in some]
    assert len(endpoints) > 80
    without = {one.name for one in endpoints if not any(int(str(each["status"])) < 400 for each in one.exchanges)}
    assert without <= WITHOUT_EXAMPLE


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}"),
        ([1, 2], "[1, 2]"),
        ({"a": "b" * 70, "c": "d" * 70}, '{"a": "' + "b" * 70 + '",\n "c": "' + "d" * 70 + '"}'),
        ([{"a": "b" * 90}, {"a": "c" * 90}], '[{"a": "' + "b" * 90 + '"},\n {"a": "' + "c" * 90 + '"}]'),
        ([{"a": "b" * 90}] * 20, '[{"a": "' + "b" * 90 + '"},\n {"a": "' + "b" * 90 + '"}, ...]'),
    ],
    ids=["nothing", "short", "members", "items", "more items"],
)
def test_json_is_filled_into_lines(value: Json, text: str) -> None:
    assert shortened(value) == text
    assert all(len(line) <= WIDTH for line in text.splitlines())


def test_nothing_of_a_request_is_left_out() -> None:
    assert full([[0.5] * 20] * 4).replace("\n", "").count("0.5") == 80
