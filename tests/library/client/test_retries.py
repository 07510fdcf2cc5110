"""Requests that the service refused for now are repeated after the time that it gives."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
import uvicorn

from relevance_bayes.client import Client, ClientError
from relevance_bayes.client.drivers import LIMITS
from relevance_bayes.client.errors import CONNECTION_LOST, Problem
from relevance_bayes.client.http import MAX_RETRIES, MAX_RETRY_AFTER, Http, Retries, retry_after
from tests.library.client.conftest import Connected, Service
from tests.library.client.test_async_client import MODEL
from tests.library.client.test_http import one_after_the_other

AWAY = {"type": "/problems/unavailable", "title": "Unavailable", "status": 503, "detail": "The database is away."}
PREDICTED = {"model": "m", "version": 1, "predictions": []}


def away(seconds: str | None = "2", status: int = 503) -> httpx.Response:
    headers = {} if seconds is None else {"Retry-After": seconds}
    return httpx.Response(status, json=AWAY | {"status": status}, headers=headers)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    return pauses


def test_what_was_not_executed_is_repeated_after_the_time_that_the_service_gives(
    connected: Connected, pauses: list[float]
) -> None:
    predicted = httpx.Response(200, json=PREDICTED)
    responses = one_after_the_other(away("3"), away("0", 429), away("0"), predicted)
    pair = connected({"POST /v1/models/m/predict": responses})
    assert pair.client.predict("m", {"columns": {"x": [1]}}).version == 1
    assert pauses == [3.0, 1.0, 2.0]  # at least the backoff


def test_a_refusal_without_a_time_is_stated_at_once(connected: Connected, pauses: list[float]) -> None:
    client = connected({"GET /v1/models/m": one_after_the_other(away(None))}).client
    with pytest.raises(ClientError, match="The database is away") as caught:
        client.model("m")
    assert (caught.value.retry_after, pauses) == (None, [])


def test_a_long_wait_is_not_waited_for_but_stated(connected: Connected, pauses: list[float]) -> None:
    client = connected({"GET /v1/models/m": one_after_the_other(away(str(int(MAX_RETRY_AFTER) + 1), 429))}).client
    with pytest.raises(ClientError) as caught:
        client.model("m")
    assert (caught.value.retry_after, pauses) == (MAX_RETRY_AFTER + 1, [])


def test_retries_end(connected: Connected, pauses: list[float]) -> None:
    pair = connected({"GET /v1/models/m": lambda _: away()})
    with pytest.raises(ClientError):
        pair.client.model("m")
    assert (len(pair.service.requested), pauses) == (MAX_RETRIES + 1, [2.0, 2.0, 2.0, 4.0])


def test_a_client_without_retries_repeats_nothing(pauses: list[float]) -> None:
    service = Service({"GET /v1/models/m": lambda _: away()})
    transport = httpx.MockTransport(service)
    with (
        Client(Http.to("http://service", api_key=None, max_retries=0, transport=transport)) as client,
        pytest.raises(ClientError),
    ):
        client.model("m")
    assert (len(service.requested), pauses) == (1, [])


def test_what_is_read_is_read_again_after_a_lost_connection(connected: Connected, pauses: list[float]) -> None:
    found = httpx.Response(200, json=MODEL)
    pair = connected({"GET /v1/models/m": one_after_the_other(httpx.ReadError, httpx.ConnectError, found)})
    assert pair.client.model("m").name == "m"
    assert pauses == [0.5, 1.0]


def test_connections_are_kept_for_less_time_than_the_service_keeps_them() -> None:
    assert LIMITS.keepalive_expiry is not None
    assert LIMITS.keepalive_expiry < uvicorn.Config("app.main:create_app", log_config=None).timeout_keep_alive


@pytest.mark.parametrize("method", ["DELETE", "PATCH"])
def test_what_changes_something_without_a_key_is_not_repeated(
    connected: Connected, pauses: list[float], method: str
) -> None:
    pair = connected({f"{method} /v1/models/m": one_after_the_other(httpx.ReadError)})
    with pytest.raises(ClientError) as caught:
        pair.client.delete_model("m") if method == "DELETE" else pair.client.outcomes.record("m", 0.5)
    assert (caught.value.problem.type, pauses) == (CONNECTION_LOST, [])


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "120"}, 120.0),
        ({"Retry-After": " 0 "}, 0.0),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "٣"}, None),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_the_time_is_a_number_or_a_date(headers: Mapping[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_to_come_is_the_time_until_then() -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert retry_after({"Retry-After": at}) == pytest.approx(29.5, abs=1.0)


def test_the_backoff_doubles_up_to_its_maximum() -> None:
    retries = Retries(7, is_repeatable=True)
    lost = ClientError(Problem(title="Lost", detail="Lost.", type=CONNECTION_LOST))
    assert [retries.pause(lost) for _ in range(8)] == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, None]
