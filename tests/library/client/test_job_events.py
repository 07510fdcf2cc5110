"""Following a job over streams that break off."""

import json
from collections.abc import Iterator

import httpx
import pytest

from relevance_bayes.client import NOT_REACHABLE, ClientError
from relevance_bayes.client.calls import iterated
from relevance_bayes.client.job_events import PAUSES, follow
from tests.library.client.conftest import Connected

NOW = "2026-01-02T03:04:05Z"
PATH = "/v1/training-jobs/j1/events"


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that a client would have waited, and did not."""
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    return waited


def given(number: int, state: str) -> bytes:
    moved = {"state": state, "at": NOW, "attempt": 1, "reason": None}
    event = {"number": number, "at": NOW, "kind": "transition", "transition": moved, "progress": None}
    return f"id: {number}\nevent: transition\ndata: {json.dumps(event)}\n\n".encode()


def breaking(*chunks: bytes) -> httpx.Response:
    """A stream whose connection breaks after these bytes."""

    def content() -> Iterator[bytes]:
        yield from chunks
        raise httpx.ReadError("connection reset")

    return httpx.Response(200, content=content())


def stream(*chunks: bytes) -> httpx.Response:
    return httpx.Response(200, content=b"".join(chunks))


def test_it_goes_on_after_the_last_event_that_was_whole(connected: Connected, waited: list[float]) -> None:
    responses = [
        breaking(b"retry: 1000\n\n", given(1, "queued"), given(2, "running")[:-9]),
        httpx.Response(503, json={"title": "Out of reach", "detail": "Try later.", "status": 503}),
        stream(),
        breaking(given(2, "running")),
        stream(given(3, "succeeded")),
    ]
    pair = connected({f"GET {PATH}": lambda _: responses.pop(0)})
    numbers = [event.number for event in iterated(follow(pair.client.http, PATH))]
    assert numbers == [1, 2, 3]
    requested = pair.service.requested
    assert [request.headers["Last-Event-ID"] for request in requested] == ["0", "1", "1", "1", "2"]
    assert {request.headers["Accept"] for request in requested} == {"text/event-stream"}
    assert waited == [*PAUSES[:3], PAUSES[0]]


def test_it_ends_where_the_job_has_ended_and_all_was_seen(connected: Connected) -> None:
    pair = connected({f"GET {PATH}": lambda _: httpx.Response(204)})
    assert list(pair.client.trainings.follow("j1", after=7)) == []
    assert pair.service.requested[0].headers["Last-Event-ID"] == "7"


def test_it_gives_up_when_nothing_comes_any_more(connected: Connected, waited: list[float]) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        if len(pair.service.requested) == 1:
            return breaking(given(1, "queued"))
        raise httpx.ConnectError("connection refused")

    pair = connected({f"GET {PATH}": refuse})
    with pytest.raises(ClientError) as error:
        list(iterated(follow(pair.client.http, PATH)))
    assert error.value.problem.type == NOT_REACHABLE
    assert waited == list(PAUSES)


def test_streams_that_end_at_once_are_not_requested_for_ever(connected: Connected, waited: list[float]) -> None:
    pair = connected({f"GET {PATH}": lambda _: stream()})
    with pytest.raises(ClientError):
        list(iterated(follow(pair.client.http, PATH)))
    assert waited == list(PAUSES)


@pytest.mark.parametrize("status", [404, 401, 503])
def test_what_is_refused_at_first_is_stated_at_once(connected: Connected, waited: list[float], status: int) -> None:
    problem = {"title": "No", "detail": "No such thing.", "status": status}
    pair = connected({f"GET {PATH}": lambda _: httpx.Response(status, json=problem)})
    with pytest.raises(ClientError, match="No such thing"):
        list(iterated(follow(pair.client.http, PATH)))
    assert waited == []


def test_what_is_no_event_is_not_understood(connected: Connected, waited: list[float]) -> None:
    pair = connected({f"GET {PATH}": lambda _: stream(b"data: {}\n\n")})
    with pytest.raises(ClientError, match="got another message"):
        list(iterated(follow(pair.client.http, PATH)))
    assert waited == []
