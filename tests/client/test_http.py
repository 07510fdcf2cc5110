import httpx
import pytest

from app.client import NOT_REACHABLE, ClientError, connect
from tests.client.conftest import Connected

PROBLEM = {
    "type": "/problems/invalid-request",
    "title": "Invalid request",
    "status": 422,
    "detail": "There is no column 'z'.",
    "instance": "/v1/training-jobs",
    "errors": [
        {"pointer": "/target", "detail": "Known are x and y."},
        {"row": 3, "column": "x", "detail": "No number."},
    ],
    "request_id": "r1",
    "a_later_member": [],
}


def refuse(_: httpx.Request) -> httpx.Response:
    return httpx.Response(422, json=PROBLEM, headers={"Content-Type": "application/problem+json"})


def test_a_problem_becomes_an_error_that_says_what_is_wrong_and_where(connected: Connected) -> None:
    client = connected({"POST /v1/training-jobs": refuse}).client
    with pytest.raises(ClientError) as caught:
        client.submit({"dataset_id": "d", "target": "z"})
    assert caught.value.problem.status == 422
    assert caught.value.problem.request_id == "r1"
    assert str(caught.value).splitlines() == [
        "There is no column 'z'.",
        "  /target: Known are x and y.",
        "  row 3, column x: No number.",
    ]


def test_a_proxy_that_answers_html_is_an_error_with_its_status(connected: Connected) -> None:
    client = connected({"GET /v1/models/m": lambda _: httpx.Response(502, html="<h1>Bad Gateway</h1>")}).client
    with pytest.raises(ClientError, match=r"answered 502 Bad Gateway") as caught:
        client.model("m")
    assert caught.value.problem.status == 502


def test_an_answer_of_another_shape_is_an_error_that_names_what_is_missing(connected: Connected) -> None:
    client = connected({"GET /v1/models/m": lambda _: httpx.Response(200, json={"hello": "world"})}).client
    with pytest.raises(ClientError, match="missing required field `name`"):
        client.model("m")


def test_a_service_that_does_not_answer_is_an_error_without_a_status(connected: Connected) -> None:
    def gone(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("connection refused", request=request)

    client = connected({"GET /v1/models/m": gone}).client
    with pytest.raises(ClientError, match="No answer from http://service: connection refused") as caught:
        client.model("m")
    assert caught.value.problem.status is None
    assert caught.value.problem.type == NOT_REACHABLE


@pytest.mark.parametrize("url", ["ftp://service", "service:80", "http://host:port", ""])
def test_what_is_no_url_is_an_error(url: str) -> None:
    with pytest.raises(ClientError, match="URL"), connect(url) as client:
        client.model("m")


def test_every_request_carries_the_key(connected: Connected) -> None:
    pair = connected({"DELETE /v1/models/m": lambda _: httpx.Response(204)})
    pair.client.delete_model("m")
    assert pair.service.asked[0].headers["Authorization"] == "Bearer secret"
