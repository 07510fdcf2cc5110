from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from relevance_bayes import __version__
from relevance_bayes.client import CONNECTION_LOST, NOT_REACHABLE, ClientError, connect
from tests.library.client.conftest import Connected

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


def test_a_problem_becomes_an_error_that_states_what_is_wrong_and_where(connected: Connected) -> None:
    client = connected({"POST /v1/training-jobs": refuse}).client
    with pytest.raises(ClientError) as caught:
        client.trainings.submit({"dataset_id": "d", "target": "z"})
    assert caught.value.problem.status == 422
    assert caught.value.problem.request_id == "r1"
    assert str(caught.value).splitlines() == [
        "There is no column 'z'.",
        "  /target: Known are x and y.",
        "  row 4 of the data, column x: No number.",
    ]


def test_a_proxy_that_returns_html_is_an_error_with_its_status(connected: Connected) -> None:
    client = connected({"GET /v1/models/m": lambda _: httpx.Response(502, html="<h1>Bad Gateway</h1>")}).client
    with pytest.raises(ClientError, match=r"responded with 502 Bad Gateway") as caught:
        client.model("m")
    assert caught.value.problem.status == 502


def test_a_response_of_another_shape_is_an_error_that_names_what_is_missing(connected: Connected) -> None:
    client = connected({"GET /v1/models/m": lambda _: httpx.Response(200, json={"hello": "world"})}).client
    with pytest.raises(ClientError, match="At /name: This member is required"):
        client.model("m")


def test_a_service_that_does_not_respond_is_an_error_without_a_status(connected: Connected) -> None:
    def disconnect(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("connection refused", request=request)

    client = connected({"GET /v1/models/m": disconnect}).client
    with pytest.raises(ClientError, match="No response from http://service: connection refused") as caught:
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
    assert pair.service.requested[0].headers["Authorization"] == "Bearer secret"
    assert pair.service.requested[0].headers["User-Agent"] == f"relevance-bayes/{__version__}"


DATASET = {"id": "d", "name": "n", "created_at": "2024-05-01T12:00:00Z", "rows": 1, "digest": "", "columns": []}
IN_USE = {"type": "/problems/idempotency-key-in-use", "title": "In use", "status": 409, "detail": "Still being done."}


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that a client would have waited, and did not."""
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    return pauses


def one_after_the_other(
    *responses: httpx.Response | type[httpx.TransportError],
) -> Callable[[httpx.Request], httpx.Response]:
    """Answers, and ways in which there is none."""
    coming: Iterator[httpx.Response | type[httpx.TransportError]] = iter(responses)

    def response(request: httpx.Request) -> httpx.Response:
        now = next(coming)
        if isinstance(now, httpx.Response):
            return now
        raise now("gone", request=request)

    return response


def test_what_makes_something_is_sent_again_under_its_key_until_it_gets_a_response(
    connected: Connected, pauses: list[float], tmp_path: Path
) -> None:
    made = httpx.Response(201, json=DATASET)
    lost = (httpx.RemoteProtocolError, httpx.ConnectError, httpx.ReadError, httpx.Response(409, json=IN_USE), made)
    (file := tmp_path / "n.csv").write_text("x\n1\n")
    pair = connected({"POST /v1/datasets": one_after_the_other(*lost)})
    assert pair.client.upload(file).id == "d"
    assert pauses == [0.5, 1.0, 2.0, 4.0]
    assert {request.content for request in pair.service.requested} == {b"x\n1\n"}
    (key,) = {request.headers["Idempotency-Key"] for request in pair.service.requested}
    assert len(key) == 38


def test_each_call_has_a_key_of_its_own_unless_it_is_given_one(connected: Connected) -> None:
    pair = connected({"POST /v1/datasets": lambda _: httpx.Response(201, json=DATASET)})
    for key in (None, None, "mine", 'my "own"\\'):
        pair.client.create_dataset({"x": [1]}, name="n", key=key)
    first, second, third, fourth = [request.headers["Idempotency-Key"] for request in pair.service.requested]
    assert first != second
    assert third == '"mine"'
    assert fourth == r'"my \"own\"\\"'


def test_a_service_that_was_never_there_is_not_waited_for(connected: Connected, pauses: list[float]) -> None:
    client = connected({"POST /v1/datasets": one_after_the_other(httpx.ConnectError)}).client
    with pytest.raises(ClientError) as caught:
        client.create_dataset({"x": [1]}, name="n")
    assert (caught.value.problem.type, pauses) == (NOT_REACHABLE, [])


def test_a_connection_that_is_lost_each_time_is_an_error_in_the_end(connected: Connected, pauses: list[float]) -> None:
    client = connected({"POST /v1/datasets": one_after_the_other(*[httpx.ReadError] * 5)}).client
    with pytest.raises(ClientError) as caught:
        client.create_dataset({"x": [1]}, name="n")
    assert (caught.value.problem.type, len(pauses)) == (CONNECTION_LOST, 4)


def test_what_makes_nothing_is_not_sent_again(connected: Connected, pauses: list[float]) -> None:
    pair = connected({"POST /v1/models/m/predict": one_after_the_other(httpx.ReadError)})
    with pytest.raises(ClientError):
        pair.client.predict("m", {"columns": {"x": [1]}})
    assert "Idempotency-Key" not in pair.service.requested[0].headers
    assert pauses == []
